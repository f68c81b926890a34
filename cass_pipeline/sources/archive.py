"""Read a source archive as a tree in memory. Nothing is unpacked to disk, nothing is run.

Names, links and sizes are the archive's claims and are not believed: what leads out of the tree
is kept apart with its reason, and reading stops at the first limit that is exceeded.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import stat
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.licences import is_licence_file
from cass_pipeline.sources.links import follow
from cass_pipeline.sources.paths import problem_with, readable
from cass_pipeline.sources.settings import MIB, ArchiveLimits
from cass_pipeline.sources.tree import MemoryTree

SOURCE_SUFFIXES = (
    *(".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".inc", ".ipp", ".ixx", ".tpp"),
    *(".txx", ".tcc", ".hu", ".impl", ".def", ".c", ".cc", ".cpp", ".cxx", ".c++"),
)
"""Files that a `.cu` file may include, besides those without a suffix."""
SMALL_BYTES = 32 * MIB
"""Unpacked size under which no ratio is suspicious: text of one letter packs 1000 to 1."""
LONGEST_TARGET = 4096
"""Bytes of a link's target; no Linux path is longer."""
_DECOMPRESSORS: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\0", lzma.open),
)
"""How each kind of compressed file begins, and what reads it."""


def is_wanted(path: str) -> bool:
    """Whether a member is held in memory: sources, licences, and the package's `PKG-INFO`."""
    name = posixpath.basename(path)
    return name.lower().endswith(SOURCE_SUFFIXES) or "." not in name or is_licence_file(path)


def read_archive(
    archive: Path, limits: ArchiveLimits, file_bytes: int, wanted: Callable[[str], bool] = is_wanted
) -> MemoryTree:
    """The wanted files of a tar (plain, gzip, bzip2, xz) or zip archive.

    A folder that holds everything, as source distributions have, is left out of the paths. Files
    over `file_bytes` are listed but not held.

    Raises:
        RejectedError: ARCHIVE_LIMIT or ARCHIVE_UNREADABLE.
        OSError: the archive cannot be opened.
    """
    packed = archive.stat().st_size
    most = min(limits.unpacked_bytes, max(SMALL_BYTES, packed * limits.ratio))
    contents = _Contents(limits, file_bytes, most, wanted)
    with archive.open("rb") as file:
        try:
            if zipfile.is_zipfile(file):
                _read_zip(file, contents)
            else:
                _read_tar(file, contents)
        except RejectedError:
            raise
        # Damaged archives raise whatever the decoders' authors did not think of.
        except Exception as error:
            evidence = f"{archive.name}: {type(error).__name__}: {error}"
            raise RejectedError(Reason.ARCHIVE_UNREADABLE, evidence) from error
    return contents.tree()


@dataclass
class _Contents:
    """What has been read so far, and the sums that are limited."""

    limits: ArchiveLimits
    file_bytes: int
    most: int
    wanted: Callable[[str], bool]
    files: dict[str, bytes] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    members: int = 0
    unpacked: int = 0
    kept: int = 0

    def count(self, size: int) -> None:
        """One more member of `size` bytes, by its header."""
        self.members += 1
        self.unpacked += size
        if size < 0 or self.unpacked > self.most:
            raise RejectedError(
                Reason.ARCHIVE_LIMIT, f"{self.unpacked} bytes unpacked, limit {self.most}"
            )
        if self.members > self.limits.members:
            raise RejectedError(Reason.ARCHIVE_LIMIT, f"more than {self.members - 1} members")

    def add(self, name: str, size: int, read: Callable[[], bytes]) -> None:
        """A regular file; a later one of the same name replaces it, as unpacking would."""
        if (path := self._usable(name)) is None or not self.wanted(path):
            return
        self._forget(path)
        self.sizes[path] = size
        if size <= self.file_bytes:
            self.files[path] = read()
            self.kept += len(self.files[path])
        if self.kept > self.limits.kept_bytes:
            evidence = f"{self.kept} bytes of sources, limit {self.limits.kept_bytes}"
            raise RejectedError(Reason.ARCHIVE_LIMIT, evidence)

    def link(self, name: str, target: str) -> None:
        """A link to `target`, as seen from the link's folder."""
        if (path := self._usable(name)) is not None and self.wanted(path):
            self._forget(path)
            self.links[path] = target

    def hard_link(self, name: str, target: str) -> None:
        """One more name for the member `target`, which is a path inside the archive."""
        inside = problem_with(target) is None
        folder = "/" + posixpath.dirname(_plain(name))
        self.link(name, posixpath.relpath("/" + target, folder) if inside else "/" + target)

    def refuse(self, name: str, why: str) -> None:
        """A member that is neither file, folder nor link."""
        if (path := self._usable(name)) is not None:
            self._forget(path)
            self.unusable[path] = why

    def tree(self) -> MemoryTree:
        """The tree of all that was added, without the folder that holds everything."""
        for path in self.links:
            if (file := follow(path, self.links, self.sizes)) is None:
                self.unusable[path] = f"link to {self.links[path]}, which is no file of the tree"
            else:
                self.sizes[path] = self.sizes[file]
                if file in self.files:
                    self.files[path] = self.files[file]
        inside = (path for path in (*self.sizes, *self.unusable) if problem_with(path) is None)
        tops = {path.partition("/")[0] if "/" in path else "" for path in inside}
        top = tops.pop() + "/" if len(tops) == 1 and "" not in tops else ""
        return MemoryTree(
            {path.removeprefix(top): data for path, data in self.files.items()},
            {path.removeprefix(top): size for path, size in self.sizes.items()},
            {path.removeprefix(top): why for path, why in self.unusable.items()},
        )

    def _usable(self, name: str) -> str | None:
        if problem := problem_with(name):
            self.unusable[name] = problem
            return None
        return _plain(name)

    def _forget(self, path: str) -> None:
        self.kept -= len(self.files.pop(path, b""))
        for known in (self.links, self.sizes, self.unusable):
            known.pop(path, None)


class _Forward(io.RawIOBase):
    """A decompressed stream that refuses to go beyond `most` bytes, or back.

    `tarfile` reads long names and extended headers whole and believes their sizes, negative ones
    too, before its caller sees the member.
    """

    def __init__(self, inner: IO[bytes], most: int) -> None:
        self._inner = inner
        self._most = most

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > SMALL_BYTES:
            raise RejectedError(Reason.ARCHIVE_LIMIT, f"a header or member of {size} bytes")
        return self._inner.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        # One byte back is how tarfile finds out that a member was cut short.
        if whence != io.SEEK_SET or offset < self._inner.tell() - 1:
            raise RejectedError(Reason.ARCHIVE_UNREADABLE, "a member lies before its header")
        if offset > self._most:
            raise RejectedError(Reason.ARCHIVE_LIMIT, f"more than {self._most} bytes unpacked")
        return self._inner.seek(offset)

    def tell(self) -> int:
        return self._inner.tell()


def _read_tar(file: IO[bytes], contents: _Contents) -> None:
    file.seek(0)
    start = file.read(6)
    file.seek(0)
    unpack = next((unpack for magic, unpack in _DECOMPRESSORS if start.startswith(magic)), None)
    stream = _Forward(unpack(file) if unpack else file, contents.most)
    with tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as archive:
        for member in archive:
            name = _text(member.name)
            contents.count(member.size)
            if member.isreg():
                contents.add(name, member.size, partial(_member_bytes, archive, member))
            elif member.issym():
                contents.link(name, _text(member.linkname))
            elif member.islnk():
                contents.hard_link(name, _text(member.linkname))
            elif not member.isdir():
                contents.refuse(name, "neither file, folder nor link")


def _member_bytes(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    reader = archive.extractfile(member)
    return reader.read() if reader else b""


def _read_zip(file: IO[bytes], contents: _Contents) -> None:
    with zipfile.ZipFile(file) as archive:
        # The directory states every size, and no more than that is read of any member.
        for member in archive.infolist():
            contents.count(member.file_size)
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            name = _text(member.filename)
            if member.is_dir():
                continue
            if kind == stat.S_IFLNK and member.file_size <= LONGEST_TARGET:
                contents.link(name, readable(archive.read(member)))
            elif kind in (0, stat.S_IFREG):
                contents.add(name, member.file_size, partial(archive.read, member))
            else:
                contents.refuse(name, "neither file, folder nor link")


def _text(name: str) -> str:
    return readable(name.encode("utf-8", "surrogateescape"))


def _plain(name: str) -> str:
    """`name` without `.` parts and doubled slashes, which say nothing."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))
