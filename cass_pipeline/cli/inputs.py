"""Reads the file that a command was given, with the local headers it includes."""

from __future__ import annotations

from pathlib import Path

from cass_pipeline.errors import ConfigurationError, InputError
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.closure import TreeIndex, closure_of
from cass_pipeline.sources.settings import UnitLimits
from cass_pipeline.sources.tree import FolderTree
from cass_pipeline.store import write_atomically
from cass_pipeline.units import SourceTree


def read_tree(file: Path) -> SourceTree:
    """The file and the headers it includes from its own folder and those below.

    Raises:
        InputError: there is no such file, it is not text, or it includes what it may not.
    """
    if not file.is_file():
        raise InputError(f"{file} is not a file")
    limits = UnitLimits()
    try:
        tree = closure_of(TreeIndex(FolderTree(file.parent), limits), file.name, limits).tree
    except RejectedError as rejected:
        verdict = rejected.verdict
        explanation = verdict.reason.explanation if verdict.reason else ""
        raise InputError(f"{file}: {explanation} ({verdict.evidence})") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    return tree


def write_tree(files: dict[str, str], folder: Path, source_folder: Path) -> list[Path]:
    """Writes files below `folder`.

    Raises:
        ConfigurationError: that would overwrite the input's own files.
        StoreError: the disk refuses.
    """
    targets = {folder / path: text for path, text in files.items()}
    sources = {(source_folder / path).resolve() for path in files}
    if clash := [target for target in targets if target.resolve() in sources and target.exists()]:
        raise ConfigurationError(
            f"{clash[0]} belongs to the input and would be overwritten; give another folder"
        )
    for target, text in targets.items():
        write_atomically(target, text.encode("utf-8", "surrogateescape"))
    return list(targets)
