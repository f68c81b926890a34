"""Under which terms a unit stands, with the evidence.

For each file of a unit the first of these that says anything decides:

1. `SPDX-License-Identifier` tags in the file;
2. a licence text or notice in the comments at its top;
3. the licence files of the nearest folder upwards that has any. A licence text that is not
   recognised ends the search: its terms are unknown, whatever a folder above says;
4. the metadata of a source distribution (`PKG-INFO` at the root).

The unit's expression joins those of its files with AND; one file of unknown terms makes the
unit's unknown. Texts are recognised by `licenseclassifier` (SPDX templates, offline): of three
libraries tried on 89 known texts it was the fastest and the most careful. It does not see what a
text adds to its template ("MIT, non-commercial only"), hence `RESTRICTIONS`.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from cass_pipeline.sources.package_metadata import metadata_licence
from cass_pipeline.sources.spdx import LONGEST, Licence, normalised
from cass_pipeline.sources.text import NotTextError, decode
from cass_pipeline.sources.tree import FileTree

HEAD_CHARS = 8_000
"""How far from the top tags and notices are looked for."""
LARGEST_TEXT = 400_000
"""Bytes of a licence file; recognising takes 4 microseconds a character."""
SHORTEST_LICENCE = 400
"""Characters; less is a pointer to another file, not a licence (the ISC text has 700)."""
RESTRICTIONS = (
    "academic use only",
    "commons clause",
    "end user license agreement",
    "non-commercial",
    "noncommercial",
    "nvidia software license",
    "proprietary and confidential",
    "research purposes only",
    "strictly prohibited",
)
"""Phrases, in lower case, that make the terms unknown beside whatever licence was recognised."""
_RESTRICTION_INSIDE = ("GFDL", "GPL", "MPL", "-NC", "Unlicense")
_LICENCE_FILE = re.compile(
    r"(?:.*[-_.])?(?:licen[cs]es?|copying|unlicen[cs]e)(?:[-_.].*)?", re.IGNORECASE
)
_NOT_A_TEXT = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".html", ".js", ".json", ".py")
_TAG = re.compile(r"SPDX-License-Identifier:[ \t]*([^\n]*)")
_TAG_END = re.compile(r"\s*(?:\*/|-->|\*+\s*$).*|\s+$")
_TOP_COMMENTS = re.compile(r"(?:\s+|//[^\n]*|/\*(?s:.)*?\*/|#[ \t]*(?:pragma|if|define)[^\n]*)*")
_COMMENT_MARKS = re.compile(r"^[ \t]*(?:/\*+|\*+/|\*+|//+)[ \t]?|\*/", re.MULTILINE)


class LicenceReader:
    """Licences of the files of one tree; each file is looked at once."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree
        self._by_folder: dict[str, list[str]] = defaultdict(list)
        for path in sorted(tree.sizes):
            if is_licence_file(path):
                self._by_folder[posixpath.dirname(path)].append(path)
        self._folders: dict[str, Licence | None] = {}
        self._own: dict[str, Licence | None] = {}

    def of_unit(self, texts: Iterable[tuple[str, str]]) -> Licence:
        """The licence of a unit whose files have these paths in the tree, and these texts.

        Raises:
            OSError: a licence file cannot be read.
        """
        return Licence.all_of([self._of_file(path, text) for path, text in texts])

    def _of_file(self, path: str, text: str) -> Licence:
        if path not in self._own:
            self._own[path] = stated_in(path, text)
        return (
            self._own[path]
            or self._above(posixpath.dirname(path))
            or Licence(None, (f"{path}: no licence found",))
        )

    def _above(self, folder: str) -> Licence | None:
        if folder not in self._folders:
            self._folders[folder] = self._in_folder(folder) or (
                self._above(posixpath.dirname(folder)) if folder else metadata_licence(self._tree)
            )
        return self._folders[folder]

    def _in_folder(self, folder: str) -> Licence | None:
        found = [self._of_licence_file(path) for path in self._by_folder.get(folder, ())]
        texts = [licence for licence in found if licence is not None]
        return Licence.all_of(texts) if texts else None

    def _of_licence_file(self, path: str) -> Licence | None:
        if self._tree.sizes[path] > LARGEST_TEXT:
            return Licence(None, (f"{path}: too large to be recognised",))
        try:
            text = decode(self._tree.read(path))
        except NotTextError as error:
            return Licence(None, (f"{path}: {error}",))
        licence = _recognised(path, text)
        if licence is None and len(text.strip()) >= SHORTEST_LICENCE:
            return Licence(None, (f"{path}: licence text not recognised",))
        return licence


def is_licence_file(path: str) -> bool:
    """Whether the file's name says that it holds a licence."""
    name = posixpath.basename(path)
    return bool(_LICENCE_FILE.fullmatch(name)) and not name.lower().endswith(_NOT_A_TEXT)


def stated_in(path: str, text: str) -> Licence | None:
    """What a source file says of its own licence, or None if it says nothing."""
    head = text[:HEAD_CHARS]
    if tags := [_TAG_END.sub("", tag[:LONGEST]) for tag in _TAG.findall(head)]:
        return Licence.all_of([Licence(normalised(t), (f"{path}: SPDX tag {t}",)) for t in tags])
    top = _TOP_COMMENTS.match(head)
    return _recognised(path, _COMMENT_MARKS.sub("", top.group())) if top else None


def _recognised(path: str, text: str) -> Licence | None:
    found = identified(text)
    if not any(mark in name for name, _ in found for mark in _RESTRICTION_INSIDE):
        lowered = " ".join(text.lower().split())
        for phrase in RESTRICTIONS:
            if phrase in lowered:
                return Licence(None, (f"{path}: says {phrase!r}",))
    if not found:
        return None
    return Licence.all_of(
        [Licence(normalised(n), (f"{path}: {n} ({share:.0%} of the text)",)) for n, share in found]
    )


@lru_cache(maxsize=4096)
def identified(text: str) -> tuple[tuple[str, float], ...]:
    """SPDX name of each licence or notice in `text`, with its share of the text, sorted."""
    from licenseclassifier import identify_license

    shares: dict[str, float] = defaultdict(float)
    for match in identify_license(text):
        shares[match.id] += (match.end - match.start) / len(text)
    return tuple(sorted(shares.items()))
