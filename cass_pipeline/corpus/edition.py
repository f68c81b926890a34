"""An edition is a release with a date: its tag, its changelog, and what it took the place of.

A release folder depends on the rows and the settings alone. What depends on the day and on the
releases before (`CHANGELOG.md`, `removed_pairs.jsonl`, one line of the card) is added here.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa

from cass_pipeline.corpus.changelog import (
    CHANGELOG,
    REMOVED,
    Explain,
    entry_of,
    next_tag,
    tags_of,
    with_entry,
    with_removals,
)
from cass_pipeline.corpus.pair_index import INDEX, compare, read_index
from cass_pipeline.corpus.release import MANIFEST, Edition, read_release, stamp
from cass_pipeline.errors import StoreError

HISTORY = (CHANGELOG, REMOVED, INDEX, MANIFEST)
"""All that the next edition needs of the last one. The manifest comes last: it makes the others
count."""


@dataclass(frozen=True)
class Previous:
    """The last edition, wherever it was released."""

    edition: Edition
    content: str
    """Hash of its files other than the dated ones."""
    index: pa.Table
    changelog: str
    removed: str


def read_previous(folder: Path) -> Previous | None:
    """The last edition, from a folder that holds the files of `HISTORY`; None without any.

    Raises:
        StoreError: a file is missing or cannot be read.
    """
    if not (folder / MANIFEST).exists():
        return None
    release = read_release(folder)
    if release.edition is None:
        return None
    try:
        changelog = (folder / CHANGELOG).read_text(encoding="utf-8")
        removed = (folder / REMOVED).read_text(encoding="utf-8")
    except OSError as error:
        raise StoreError(f"the last release is incomplete in {folder}: {error}") from error
    return Previous(
        release.edition, release.content, read_index(folder / INDEX), changelog, removed
    )


@dataclass(frozen=True)
class Editor:
    """Makes editions of one release folder."""

    folder: Path
    """The release folder."""
    history: Path
    """Folder that keeps the `HISTORY` of the last edition on this machine."""
    today: date
    explain: Explain
    """Says why pairs left."""

    def last(self) -> Previous | None:
        """The last edition that this machine knows of."""
        return read_previous(self.history)

    def edit(self, previous: Previous | None, taken: Collection[str]) -> Edition:
        """Makes the folder the edition that comes after `previous`.

        Args:
            previous: what it takes the place of; None for the first one.
            taken: tags that are in use.
        """
        release = read_release(self.folder)
        changelog = previous.changelog if previous else ""
        changes = compare(previous.index if previous else None, read_index(self.folder / INDEX))
        reasons = self.explain(changes.removed, changes.added)
        tag = next_tag(self.today, {*taken, *tags_of(changelog)})
        edition = Edition(tag, self.today.isoformat())
        texts = {
            CHANGELOG: with_entry(
                changelog, entry_of(tag, self.today, release.version, changes, reasons)
            ),
            REMOVED: with_removals(previous.removed if previous else "", tag, changes, reasons),
        }
        stamp(self.folder, edition, texts)
        return edition

    def adopt(self, previous: Previous) -> Edition:
        """Gives the folder the date and texts of an edition of the same content."""
        if read_release(self.folder).edition != previous.edition:
            texts = {CHANGELOG: previous.changelog, REMOVED: previous.removed}
            stamp(self.folder, previous.edition, texts)
        return previous.edition

    def remember(self) -> None:
        """Makes the folder's edition the last one that this machine knows of.

        Raises:
            StoreError: the disk refuses.
        """
        try:
            self.history.mkdir(parents=True, exist_ok=True)
            for name in HISTORY:
                copy = self.history / f".{name}"
                shutil.copyfile(self.folder / name, copy)
                copy.replace(self.history / name)
        except OSError as error:
            raise StoreError(f"the changelog cannot be kept in {self.history}: {error}") from error
