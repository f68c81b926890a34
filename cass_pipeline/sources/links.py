"""Symbolic links of a tree that is not unpacked: to what file of the tree each of them leads."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Mapping

from cass_pipeline.sources.paths import join_inside

MOST_HOPS = 10
"""Links to links that are followed."""


def follow(path: str, links: Mapping[str, str], files: Container[str]) -> str | None:
    """The file that the link at `path` leads to, or None if that is no file of the tree.

    `links` maps each link to its target as written, relative to the link's folder. Links to
    folders are not followed.
    """
    current = path
    for _ in range(MOST_HOPS):
        if current not in links:
            return None
        target = join_inside(posixpath.dirname(current), links[current])
        if target is None or target in files:
            return target
        current = target
    return None
