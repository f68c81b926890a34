"""The unit of work: one CUDA translation unit with the local headers it includes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cass_pipeline.errors import InputError


@dataclass(frozen=True)
class SourceTree:
    """Files that stand alone, and the one that is compiled.

    Paths are relative POSIX paths inside the tree; no path is absolute or holds `..`.
    """

    files: Mapping[str, str]
    """Text of each file by path."""
    main_path: str
    """The file that is handed to the compiler; a key of `files`."""
    include_dirs: tuple[str, ...] = ()
    """Directories of the tree that the compiler searches (`-I`), in order; `"."` is the root."""

    def __post_init__(self) -> None:
        if self.main_path not in self.files:
            raise InputError(f"main_path {self.main_path!r} is not among the files")
        for path in (*self.files, *self.include_dirs):
            if not is_inside_tree(path):
                raise InputError(f"{path!r} is not a relative path inside its tree")

    @property
    def main_text(self) -> str:
        """Text of the main file."""
        return self.files[self.main_path]

    def digest(self) -> str:
        """SHA-256 (hexadecimal) over paths, normalised texts, main path and include paths."""
        return digest_of(
            self.main_path,
            "\n".join(self.include_dirs),
            *(part for path in sorted(self.files) for part in (path, _normal(self.files[path]))),
        )


@dataclass(frozen=True)
class Origin:
    """Where a file was found, and under which terms."""

    source: str
    """The source's noun: `local`, `repository`, `sdist` or `stack`."""
    name: str
    """Folder name, repository URL or package name."""
    revision: str
    """Commit, version, or empty for a plain folder."""
    path: str
    """Path of the `.cu` file inside the source."""
    licence: str | None = None
    """SPDX licence expression, or None where none was found."""
    licence_evidence: tuple[str, ...] = ()
    """One line for each file or tag the licence was read from."""

    @property
    def origin_id(self) -> str:
        """SHA-256 over source, name and path: the same file in a later revision keeps it."""
        return digest_of(self.source, self.name, self.path)


@dataclass(frozen=True)
class UnitTags:
    """Facts about a unit that the selection's thresholds are applied to."""

    kernels: int = 0
    """Number of `__global__` function definitions in the unit's files."""
    code_lines: int = 0
    """Lines of the main file that hold code (not blank, not comment only)."""
    generated: bool = False
    """The main file says that a program generated it."""
    has_main: bool = False
    """The main file defines `main()`."""
    unresolved_includes: tuple[str, ...] = ()
    """Included names that are neither in the tree nor a standard or CUDA header."""


@dataclass(frozen=True)
class SourceFile:
    """A file of a unit as it was found: by this its author can name it, to have it removed."""

    path: str
    """Path in the source; in the unit it may be shorter."""
    hashes: tuple[str, ...]
    """SHA-1 of its bytes (hexadecimal), plain and as git computes it."""

    @classmethod
    def of(cls, path: str, data: bytes) -> SourceFile:
        """The file at `path` that holds `data`."""
        return cls(path, sha1_sums(data))


@dataclass(frozen=True)
class Unit:
    """A source tree with its origin and tags."""

    tree: SourceTree
    origin: Origin
    tags: UnitTags = field(default_factory=UnitTags)
    sources: tuple[SourceFile, ...] = ()
    """The files of the tree as they were found, the main file first."""

    @property
    def unit_id(self) -> str:
        """Hash of the normalised files: equal code has equal ids, wherever it was found."""
        return self.tree.digest()


def sha1_sums(data: bytes) -> tuple[str, str]:
    """The two names under which archives know a file: plain SHA-1, and that of its git blob.

    They name and do not protect: both archives that use them are addressed by SHA-1.
    """
    blob = b"blob %d\0" % len(data) + data
    return (
        hashlib.sha1(data, usedforsecurity=False).hexdigest(),
        hashlib.sha1(blob, usedforsecurity=False).hexdigest(),
    )


def digest_of(*parts: str) -> str:
    """SHA-256 (hexadecimal) of a sequence of texts; boundaries between parts count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def is_inside_tree(path: str) -> bool:
    """Whether `path` is a relative POSIX path without `..`, NUL or backslash tricks."""
    pure = PurePosixPath(path)
    return (
        bool(path)
        and not pure.is_absolute()
        and ".." not in pure.parts
        and "\0" not in path
        and len(path.encode("utf-8", "surrogatepass")) < 1024
    )


def _normal(text: str) -> str:
    """Line ends and trailing blanks do not make a different unit.

    Only what compilers take for a line end counts as one: a comment may hold other separators.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines).rstrip("\n")
