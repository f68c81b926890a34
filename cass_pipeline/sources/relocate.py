"""Shorten a unit's paths, so that equal code has equal ids wherever it was vendored."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping

from cass_pipeline.units import SourceTree


def relocated(
    texts: Mapping[str, str], main_path: str, roots: tuple[str, ...], climbs: Collection[str]
) -> SourceTree:
    """The files under the deepest folder that holds all of them.

    That folder also holds the include directories `roots` (in order) and the folders `climbs`
    that an include with `..` passes through, so that every include works as before. `""` is the
    root of the original tree.
    """
    base = _deepest_common((*map(posixpath.dirname, texts), *roots, *climbs))
    cut = len(base) + 1 if base else 0
    return SourceTree(
        files={path[cut:]: texts[path] for path in sorted(texts)},
        main_path=main_path[cut:],
        include_dirs=tuple(root[cut:] or "." for root in roots),
    )


def _deepest_common(folders: Collection[str]) -> str:
    parts = [folder.split("/") if folder else [] for folder in folders]
    shared = []
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared)
