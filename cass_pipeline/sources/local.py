"""CUDA in a folder on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cass_pipeline.errors import InputError
from cass_pipeline.sources.candidate import Candidate
from cass_pipeline.sources.collect import TreeSource, collect_tree
from cass_pipeline.sources.settings import PathFilter, UnitLimits
from cass_pipeline.sources.tree import FolderTree


def collect_folder(
    folder: Path,
    *,
    paths: PathFilter | None = None,
    limits: UnitLimits | None = None,
    licence: str | None = None,
) -> Iterator[Candidate]:
    """One candidate for each `.cu` file at any depth of `folder`.

    `licence` is an SPDX expression for all of them; None reads the folder's licence files.

    Raises:
        InputError: there is no such folder, or it may not be listed.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the folder that holds the .cu files")
    about = TreeSource("local", folder.resolve().name, licence=licence, stated_in="the settings")
    yield from collect_tree(
        FolderTree(folder), about, paths or PathFilter(), limits or UnitLimits()
    )
