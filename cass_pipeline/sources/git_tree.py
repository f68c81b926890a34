"""The files of one commit, read from git's object database without a checkout."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.git import git_pipe
from cass_pipeline.sources.links import follow
from cass_pipeline.sources.paths import problem_with, readable
from cass_pipeline.sources.settings import FetchLimits

_LINK = b"120000"
_CHUNK = 2**20
_LONGEST_TARGET = 4096


class GitTree:
    """A `FileTree` over a commit. Submodules are left out; links are followed inside the tree."""

    def __init__(self, reader: subprocess.Popen[bytes]) -> None:
        self._reader = reader
        self._ids: dict[str, bytes] = {}
        self.sizes: dict[str, int] = {}
        self.unusable: dict[str, str] = {}

    def read(self, path: str) -> bytes:
        """The bytes of a file of `sizes`; raises OSError if the object is missing."""
        return self._blob(self._ids[path])

    def fill(self, git_dir: Path, commit: str, limits: FetchLimits) -> None:
        """List the commit.

        Raises:
            RejectedError: ARCHIVE_LIMIT if it has more entries than allowed.
        """
        links: dict[str, str] = {}
        for count, (mode, blob, size, path) in enumerate(_entries(git_dir, commit)):
            if count >= limits.git_entries:
                raise RejectedError(Reason.ARCHIVE_LIMIT, f"more than {count} files in the commit")
            if problem := problem_with(path):
                self.unusable[path] = problem
            elif mode == _LINK:
                links[path] = readable(self._blob(blob)) if size <= _LONGEST_TARGET else "/"
            else:
                self._ids[path], self.sizes[path] = blob, size
        for path, target in links.items():
            if (file := follow(path, links, self.sizes)) is None:
                self.unusable[path] = f"link to {target}, which is no file of the tree"
            else:
                links_to = self._ids[file], self.sizes[file]
                self._ids[path], self.sizes[path] = links_to

    def _blob(self, blob: bytes) -> bytes:
        stdin, stdout = self._reader.stdin, self._reader.stdout
        if stdin is None or stdout is None:
            raise OSError("git cat-file has no pipes")
        stdin.write(blob + b"\n")
        stdin.flush()
        header = stdout.readline().split()
        if len(header) != 3 or header[1] != b"blob":
            raise OSError(f"git has no object {blob.decode('ascii', 'replace')}")
        data = stdout.read(int(header[2]))
        stdout.read(1)
        return data


@contextmanager
def git_tree(git_dir: Path, commit: str, limits: FetchLimits) -> Iterator[GitTree]:
    """The tree of `commit` (a hash) in the bare repository `git_dir`, readable in the block.

    Raises:
        RejectedError: see `GitTree.fill`.
        OSError: git does not start.
    """
    with git_pipe(git_dir, "cat-file", "--batch") as reader:
        tree = GitTree(reader)
        tree.fill(git_dir, commit, limits)
        yield tree


def _entries(git_dir: Path, commit: str) -> Iterator[tuple[bytes, bytes, int, str]]:
    """Mode, object, size and path of each blob; format: `git ls-tree --help`, Output Format."""
    with git_pipe(git_dir, "ls-tree", "-r", "-z", "-l", "--full-tree", commit) as process:
        rest = b""
        while process.stdout is not None and (chunk := process.stdout.read(_CHUNK)):
            *lines, rest = (rest + chunk).split(b"\0")
            for line in lines:
                facts, _, name = line.partition(b"\t")
                mode, kind, blob, size = facts.split()
                if kind == b"blob":
                    yield mode, blob, int(size), readable(name)
