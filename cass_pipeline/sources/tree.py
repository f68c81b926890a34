"""A source tree to read from, whether it lies in a folder, a commit or an archive."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from cass_pipeline.sources.paths import problem_with, readable

_SKIPPED_FOLDERS = frozenset({".git"})


class FileTree(Protocol):
    """Files by relative POSIX path; nothing in it leads out of the tree."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Size in bytes of each regular file, by path."""
        ...

    @property
    def unusable(self) -> Mapping[str, str]:
        """Path and explanation of each entry that is not a file of this tree.

        Links that lead out or to nothing, devices, impossible names. A folder ends in `/`.
        """
        ...

    def read(self, path: str) -> bytes:
        """The bytes of a file of `sizes`.

        Raises:
            OSError: the file is no longer there, or may not be read.
        """
        ...


class MemoryTree:
    """A tree whose wanted files are held in memory, as read from an archive."""

    def __init__(
        self, files: Mapping[str, bytes], sizes: Mapping[str, int], unusable: Mapping[str, str]
    ) -> None:
        """`sizes` may name files that are not in `files`, being too large to be of use."""
        self._files = files
        self.sizes = sizes
        self.unusable = unusable

    def read(self, path: str) -> bytes:
        """The bytes of a file of `sizes`."""
        try:
            return self._files[path]
        except KeyError:
            raise OSError(f"{path} was left in the archive, being too large") from None


class FolderTree:
    """A folder. Links to files inside it are followed, links to folders are not."""

    def __init__(self, root: Path) -> None:
        """List the folder; the files are read later, one by one."""
        self._root = os.fsencode(root.resolve())
        self._names: dict[str, bytes] = {}
        self.sizes: dict[str, int] = {}
        self.unusable: dict[str, str] = {}
        for folder, subfolders, names in os.walk(self._root):
            subfolders[:] = sorted(set(subfolders) - {os.fsencode(n) for n in _SKIPPED_FOLDERS})
            for name in subfolders:
                self._note_folder(os.path.join(folder, name))
            for name in sorted(names):
                self._note_file(os.path.join(folder, name))

    def read(self, path: str) -> bytes:
        """The bytes of a file of `sizes`; raises OSError if it is gone or may not be read."""
        real = self._names[path]
        if not self._is_inside(real):
            raise OSError(f"{path} leads out of the tree")
        return Path(os.fsdecode(real)).read_bytes()

    def _note_folder(self, full: bytes) -> None:
        if os.path.islink(full) and not self._is_inside(full):
            self.unusable[self._relative(full) + "/"] = "link to a folder outside the tree"

    def _note_file(self, full: bytes) -> None:
        path = self._relative(full)
        problem = problem_with(path) or self._problem_on_disk(full)
        if problem:
            self.unusable[path] = problem
            return
        self._names[path] = full
        self.sizes[path] = os.stat(full).st_size

    def _problem_on_disk(self, full: bytes) -> str | None:
        if not self._is_inside(full):
            return f"link to {readable(os.readlink(full))}"
        try:
            mode = os.stat(full).st_mode
        except OSError as error:
            return f"link to nothing: {error.strerror}"
        return None if stat.S_ISREG(mode) else "not a regular file"

    def _is_inside(self, full: bytes) -> bool:
        return os.path.realpath(full).startswith(self._root.rstrip(b"/") + b"/")

    def _relative(self, full: bytes) -> str:
        return readable(os.path.relpath(full, self._root))
