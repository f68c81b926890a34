"""Names from outside: how they are written down, and which of them are refused."""

from __future__ import annotations

import posixpath

from cass_pipeline.units import is_inside_tree

LONGEST_NAME = 255
"""Bytes of one file name that Linux file systems take."""


def readable(name: bytes) -> str:
    r"""`name` as text that any encoder takes; bytes that are not UTF-8 become `\xff`."""
    return name.decode("utf-8", "backslashreplace")


def problem_with(path: str) -> str | None:
    """Why `path` cannot be a file of a tree, or None if it can."""
    if not path or path.startswith("/"):
        return "absolute or empty path"
    if ".." in path.split("/"):
        return "path with .."
    if not is_inside_tree(path):
        return "path too long or with a NUL"
    if any(len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in path.split("/")):
        return f"file name longer than {LONGEST_NAME} bytes"
    return None


def join_inside(folder: str, relative: str) -> str | None:
    """`relative` seen from `folder` (`""` is the root), normalised, or None if it leaves the tree.

    A result of `""` is the root itself.
    """
    if relative.startswith("/"):
        return None
    joined = posixpath.normpath(posixpath.join(folder or ".", relative))
    if joined == ".." or joined.startswith("../"):
        return None
    return "" if joined == "." else joined
