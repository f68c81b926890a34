"""What a source may be told: which paths, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

MIB = 2**20


@dataclass(frozen=True)
class PathFilter:
    """Globs over paths relative to the source's root, case-sensitive.

    `*` also matches `/`, as in `fnmatch`: `*.cu` is every `.cu` file at any depth and `vendor/*`
    a whole folder. A path is taken if it matches an `include` and no `exclude`. The filter picks
    candidates; headers are found whatever it says.
    """

    include: tuple[str, ...] = ("*.cu",)
    exclude: tuple[str, ...] = ()
    only: frozenset[str] | None = None
    """Where given, these paths and no others: somebody has applied the globs already."""

    def takes(self, path: str) -> bool:
        """Whether the file at `path` is a candidate."""
        if self.only is not None:
            return path in self.only
        return _any_match(path, self.include) and not _any_match(path, self.exclude)


def _any_match(path: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, glob) for glob in globs)


@dataclass(frozen=True)
class UnitLimits:
    """The largest unit that is made."""

    file_bytes: int = MIB
    """Size of one file; a larger one is data or generated."""
    closure_files: int = 400
    """Files of one unit, the main file included."""
    closure_bytes: int = 8 * MIB
    """Size of all files of one unit."""


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may cost; beyond it the rest of the archive is not read."""

    archive_bytes: int = 256 * MIB
    """Size of the packed file, checked while it is downloaded."""
    unpacked_bytes: int = 2048 * MIB
    """Sum of the unpacked sizes of all members, wanted or not."""
    members: int = 200_000
    """Number of members."""
    ratio: int = 200
    """Unpacked size over packed size; measured sdists stay under 15, a bomb is over 1000."""
    kept_bytes: int = 256 * MIB
    """Sum of the sizes of the members that are held in memory (sources and licences)."""


@dataclass(frozen=True)
class FetchLimits:
    """How long a source may take to arrive."""

    git_seconds: float = 600.0
    """Wall-clock seconds for one git command."""
    git_bytes: int = 4096 * MIB
    """Size on disk of one fetched commit."""
    git_entries: int = 1_000_000
    """Files of one commit; a repository can be made that lists without end."""
    http_seconds: float = 60.0
    """Seconds without a byte after which a download is given up."""
    download_seconds: float = 1800.0
    """Wall-clock seconds for one package, however slowly the bytes come."""
