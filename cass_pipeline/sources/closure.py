"""From one `.cu` file to a tree that stands alone: the local headers it includes, and no others.

How an include is looked up, as a compiler would with the include path that the unit ends up with:

1. in quotes: relative to the including file;
2. standard, CUDA and HIP headers are the toolchain's, even where the tree has a copy (a vendored
   C++ library taken in part would not fit the toolchain's);
3. in the include directories found so far, in order;
4. anywhere in the tree: `<a/b.h>` matches each file whose path ends in `a/b.h`. The nearest to
   the including file wins, and what precedes `a/b.h` becomes an include directory.

What is found nowhere, or is over the size limit of a file, is left out and reported by name.
Includes under `#if` are followed like any other.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.headers import is_external
from cass_pipeline.sources.paths import join_inside
from cass_pipeline.sources.relocate import relocated
from cass_pipeline.sources.scan import Include, count_kernels, includes
from cass_pipeline.sources.settings import UnitLimits
from cass_pipeline.sources.text import NotTextError, decode
from cass_pipeline.sources.tree import FileTree
from cass_pipeline.units import SourceFile, SourceTree

_ABSOLUTE = re.compile(r"/|\\|[A-Za-z]:[\\/]")


@dataclass(frozen=True)
class ScannedFile:
    """What is known of one text file of a tree."""

    text: str
    includes: tuple[Include, ...]
    kernels: int
    source: SourceFile


@dataclass(frozen=True)
class Closure:
    """A unit's files, under the shortest paths that keep every include working."""

    tree: SourceTree
    texts: Mapping[str, str]
    """The same files under their paths in the source, the main file first."""
    sources: tuple[SourceFile, ...]
    """The same files by the hashes of their bytes."""
    kernels: int
    """Kernels defined in all of its files."""
    unresolved: tuple[str, ...]
    """Names of includes that were left out, sorted."""


class TreeIndex:
    """A `FileTree` with its files read and scanned once, and an index for include look-ups."""

    def __init__(
        self, tree: FileTree, limits: UnitLimits, encodings: Mapping[str, str] | None = None
    ) -> None:
        """`encodings` are those that an archive recorded, by path."""
        self.tree = tree
        self._encodings = encodings or {}
        self._limits = limits
        self._scanned: dict[str, ScannedFile] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in tree.sizes:
            self._by_name[posixpath.basename(path)].append(path)

    def has_source(self, path: str) -> bool:
        """Whether the tree has a file at `path` that is not too large to be a unit's."""
        return self.tree.sizes.get(path, self._limits.file_bytes + 1) <= self._limits.file_bytes

    def scanned(self, path: str) -> ScannedFile:
        """The text of a file and what it includes.

        Raises:
            RejectedError: it is too large, or not text.
            OSError: it cannot be read.
        """
        if path not in self._scanned:
            size = self.tree.sizes[path]
            if size > self._limits.file_bytes:
                evidence = f"{path}: {size} bytes, limit {self._limits.file_bytes}"
                raise RejectedError(Reason.TOO_LARGE, evidence)
            data = self.tree.read(path)
            try:
                text = decode(data, self._encodings.get(path))
            except NotTextError as error:
                raise RejectedError(Reason.UNDECODABLE, f"{path}: {error}") from None
            self._scanned[path] = ScannedFile(
                text, includes(text), count_kernels(text), SourceFile.of(path, data)
            )
        return self._scanned[path]

    def root_for(self, name: str, includer: str) -> str | None:
        """The folder under which `name` is found nearest to the file `includer`.

        Nearest: fewest steps up from the includer's folder, then fewest down, then by name. Never
        the includer itself: a local `cuda.h` that includes `<cuda.h>` means the toolkit's.
        """
        name = posixpath.normpath(name)
        matches = [
            path
            for path in self._by_name.get(posixpath.basename(name), ())
            if path != includer
            and (path == name or path.endswith("/" + name))
            and self.has_source(path)
        ]
        if not matches:
            return None
        nearest = min(matches, key=lambda path: (*_steps(includer, path), path))
        return nearest[: -len(name)].rstrip("/")


def closure_of(index: TreeIndex, main_path: str, limits: UnitLimits) -> Closure:
    """The unit of the file at `main_path`, itself a file of the index's tree.

    Raises:
        RejectedError: the file, one of its headers or the whole exceeds `limits`, is not text, or
            includes something outside the tree.
        OSError: a file cannot be read.
    """
    if not index.scanned(main_path).text.strip():
        raise RejectedError(Reason.EMPTY, main_path)
    walk = _Walk(index, limits)
    walk.run(main_path)
    return Closure(
        tree=relocated(walk.texts, main_path, tuple(walk.roots), walk.climbs),
        texts=walk.texts,
        sources=tuple(index.scanned(path).source for path in walk.texts),
        kernels=sum(index.scanned(path).kernels for path in walk.texts),
        unresolved=tuple(sorted(walk.unresolved)),
    )


@dataclass
class _Walk:
    index: TreeIndex
    limits: UnitLimits
    texts: dict[str, str] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)
    climbs: set[str] = field(default_factory=set)
    """Folders that an include with `..` passes through; they must stay inside the unit."""
    unresolved: set[str] = field(default_factory=set)
    size: int = 0

    def run(self, main_path: str) -> None:
        waiting = deque([main_path])
        while waiting:
            path = waiting.popleft()
            if path in self.texts:
                continue
            scanned = self._take(path, is_main=path == main_path)
            for include in scanned.includes:
                found = self._resolve(include, path)
                if found is not None:
                    waiting.append(found)

    def _take(self, path: str, *, is_main: bool) -> ScannedFile:
        self.size += self.index.tree.sizes[path]
        if not is_main and (
            len(self.texts) >= self.limits.closure_files or self.size > self.limits.closure_bytes
        ):
            evidence = f"{path} is file {len(self.texts) + 1} of {self.size} bytes"
            raise RejectedError(Reason.CLOSURE_TOO_LARGE, evidence)
        scanned = self.index.scanned(path)
        self.texts[path] = scanned.text
        return scanned

    def _resolve(self, include: Include, includer: str) -> str | None:
        folder, name = posixpath.dirname(includer), include.name
        if _ABSOLUTE.match(name):
            raise RejectedError(Reason.INCLUDE_OUTSIDE_TREE, f"{includer}: {name}")
        if include.quoted and (found := self._at(folder, name)):
            return found
        if is_external(name):
            return None
        if include.next_only:
            self.unresolved.add(name)
            return None
        for root in self.roots:
            if found := self._at(root, name):
                return found
        if join_inside(folder, name) is None:
            raise RejectedError(Reason.INCLUDE_OUTSIDE_TREE, f"{includer}: {name}")
        new_root = self.index.root_for(name, includer)
        if new_root is None:
            self.unresolved.add(name)
            return None
        self.roots.append(new_root)
        return self._at(new_root, name)

    def _at(self, folder: str, name: str) -> str | None:
        path = join_inside(folder, name)
        if path is None or not self.index.has_source(path):
            return None
        if ".." in name.split("/"):
            self.climbs.add(_highest_folder(folder, name))
        return path


def _highest_folder(folder: str, name: str) -> str:
    """The folder nearest the root that `name` passes through when followed from `folder`."""
    highest = current = folder
    for part in posixpath.dirname(name).split("/"):
        current = join_inside(current, part) or ""
        if len(current) < len(highest):
            highest = current
    return highest


def _steps(includer: str, path: str) -> tuple[int, int]:
    """Folders to go up from `includer` to what it shares with `path`, and down from there."""
    here, there = includer.split("/")[:-1], path.split("/")[:-1]
    shared = 0
    while shared < min(len(here), len(there)) and here[shared] == there[shared]:
        shared += 1
    return len(here) - shared, len(there) - shared
