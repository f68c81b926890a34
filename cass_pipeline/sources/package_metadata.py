"""The licence that a source distribution states in its metadata."""

from __future__ import annotations

from email.parser import HeaderParser

from cass_pipeline.sources.spdx import Licence, normalised
from cass_pipeline.sources.text import NotTextError, decode
from cass_pipeline.sources.tree import FileTree

CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "Boost Software License 1.0 (BSL-1.0)": "BSL-1.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "zlib/libpng License": "Zlib",
}
"""Last part of the trove classifiers that stand for one licence; "BSD License" does not."""
METADATA_FILE = "PKG-INFO"
LARGEST = 1_000_000
"""Bytes; the description in it makes it long, but no longer than this."""


def metadata_licence(tree: FileTree) -> Licence | None:
    """What `PKG-INFO` at the root says, or None if it is missing or says nothing usable.

    Fields as in the core metadata specification: `License-Expression` (2.4 and later), `License`
    where it happens to be an SPDX expression, then the classifiers.

    Raises:
        OSError: the file cannot be read.
    """
    if tree.sizes.get(METADATA_FILE, LARGEST) >= LARGEST:
        return None
    try:
        fields = HeaderParser().parsestr(decode(tree.read(METADATA_FILE)))
    except NotTextError:
        return None
    for field in ("License-Expression", "License"):
        value = str(fields.get(field, "")).strip()
        if value and (expression := normalised(value)):
            return Licence(expression, (f"{METADATA_FILE}: {field}: {value}",))
    return _from_classifiers([str(value) for value in fields.get_all("Classifier", [])])


def _from_classifiers(classifiers: list[str]) -> Licence | None:
    stated = [c.strip() for c in classifiers if c.startswith("License ::")]
    found = [
        Licence(CLASSIFIERS.get(text.split(" :: ")[-1]), (f"{METADATA_FILE}: {text[:100]}",))
        for text in stated
        if text != "License :: OSI Approved"
    ]
    return Licence.all_of(found) if found else None
