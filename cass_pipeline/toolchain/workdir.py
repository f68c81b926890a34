"""Lays a source tree out in a temporary folder so that no name of it can do harm.

    folder/src/...      the tree
    folder/safe/N       links to directories of the tree whose names a shell would act on
    folder/out/         what the compilers write
    folder/<link>       links to the toolchain's folders

Compilers run in `folder` and get relative paths only, so that neither the folder's name nor the
toolchain's place reaches an artefact or a message. nvcc runs its own sub-commands through a
shell, which is why file names from outside never appear in its arguments: the main file is
copied beside itself under a name of ours, and odd directories are named through links.
"""

from __future__ import annotations

import errno
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from cass_pipeline.units import SourceTree

SOURCES = "src"
OUTPUT = "out"
_LINKS = "safe"
_MAIN_STEM = "unit"
_SAFE_DIRECTORY = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+-]*(?<!/-)")
_BAD_NAME = (errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.EILSEQ)


class UnusableTreeError(Exception):
    """The tree's names cannot be laid out on this file system; the text says which."""


@dataclass
class StagedUnit:
    """A tree on disk, and what to call its parts on a command line run in `folder`."""

    folder: Path
    main: str
    include_dirs: tuple[str, ...]
    _names: dict[str, str] = field(default_factory=dict)

    def output(self, name: str) -> str:
        """Relative path of an output file."""
        return f"./{OUTPUT}/{name}"

    def read(self, name: str) -> bytes:
        """Bytes of an output file."""
        return (self.folder / OUTPUT / name).read_bytes()

    def original_names(self, text: str) -> str:
        """`text` with the names that the tree has outside this folder."""
        names = {f"./{SOURCES}/": "", **self._names}
        # One pass, longest name first: what a name stands for may look like another of ours.
        ours = sorted(names, key=len, reverse=True)
        pattern = "|".join(re.escape(name.removeprefix("./")) for name in ours)
        found = re.compile(rf"(?<![\w/.-])(?:{re.escape(str(self.folder))}/|\./)?({pattern})")
        return found.sub(lambda match: names[f"./{match[1]}"], text)


@contextmanager
def staged(
    tree: SourceTree, suffix: str, links: Mapping[str, Path], temp_dir: Path | None
) -> Iterator[StagedUnit]:
    """A temporary folder that holds `tree`; gone at the end.

    Args:
        tree: the unit.
        suffix: of the main file's name, e.g. `.cu`.
        links: toolchain folders by the name they get in the folder.
        temp_dir: where to make the folder; None for the system's temporary folder.

    Raises:
        UnusableTreeError: a name is too long, or is both a file and a directory.
    """
    with tempfile.TemporaryDirectory(prefix="cass-", dir=temp_dir) as name:
        folder = Path(name)
        (folder / OUTPUT).mkdir()
        (folder / _LINKS).mkdir()
        for link, target in links.items():
            (folder / link).symlink_to(target)
        _write(tree, folder / SOURCES)
        yield _name_parts(tree, suffix, folder)


def _write(tree: SourceTree, root: Path) -> None:
    for path, text in tree.files.items():
        target = root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            if error.errno not in _BAD_NAME:
                raise
            raise UnusableTreeError(f"{path!r}: {error.strerror}") from error
        except UnicodeEncodeError as error:
            raise UnusableTreeError(f"{path!r} is not UTF-8 text") from error


def _name_parts(tree: SourceTree, suffix: str, folder: Path) -> StagedUnit:
    directory = str(PurePosixPath(tree.main_path).parent)
    taken = {PurePosixPath(path).name for path in tree.files}
    number = 0
    while (main := f"{_MAIN_STEM}{number or ''}{suffix}") in taken:
        number += 1
    (folder / SOURCES / directory / main).write_text(tree.main_text, encoding="utf-8", newline="")
    safe = {part: _safe_name(part, folder) for part in (directory, *tree.include_dirs)}
    names = {f"{safe[directory]}/{main}": tree.main_path}
    names |= {f"{name}/": f"{part}/" for part, name in safe.items() if f"/{_LINKS}/" in name}
    return StagedUnit(
        folder=folder,
        main=f"{safe[directory]}/{main}",
        include_dirs=tuple(safe[part] for part in tree.include_dirs),
        _names=names,
    )


def _safe_name(directory: str, folder: Path) -> str:
    """What to call a directory of the tree on a command line."""
    plain = str(PurePosixPath(directory))
    real = folder / SOURCES / plain
    real.mkdir(parents=True, exist_ok=True)
    if plain == ".":
        return f"./{SOURCES}"
    if _SAFE_DIRECTORY.fullmatch(plain):
        return f"./{SOURCES}/{plain}"
    number = len(list((folder / _LINKS).iterdir()))
    (folder / _LINKS / str(number)).symlink_to(real)
    return f"./{_LINKS}/{number}"
