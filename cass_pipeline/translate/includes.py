"""Rewrites `#include` lines and knows which headers a tree has itself."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from cass_pipeline.translate import include_table as table
from cass_pipeline.translate.interface import Severity
from cass_pipeline.translate.lexer import Kind
from cass_pipeline.translate.text import FileText
from cass_pipeline.units import SourceTree

_RULES = tuple((re.compile(pattern), header) for pattern, header in table.RULES)
_UNSUPPORTED = tuple((re.compile(pattern), why) for pattern, why in table.UNSUPPORTED.items())
_HIP_FOLDERS = ("hip/", "hipblas/", "hipcub/", "hipfft/", "hiprand/", "hipsolver/", "hipsparse/")


def included(file: FileText) -> Iterator[tuple[int, str]]:
    """Token index and name of each header that a file includes."""
    for index, token in enumerate(file.tokens):
        if token.kind is Kind.HEADER:
            yield index, token.text[1:-1].strip()


def is_cuda_header(name: str) -> bool:
    """Whether a header name is one of NVIDIA's that this translator knows."""
    return (
        name in table.HEADERS
        or name in table.KEPT
        or name in table.DROPPED
        or any(rule.fullmatch(name) for rule, _ in (*_RULES, *_UNSUPPORTED))
    )


def is_hip_header(name: str) -> bool:
    """Whether a header name is one of HIP's."""
    return name.startswith(_HIP_FOLDERS)


def is_ported(file: FileText) -> bool:
    """Whether a file is for another vendor's compiler: it includes HIP or MUSA, and no CUDA.

    An include under a condition does not count: it is one branch of a file for several compilers.
    """
    foreign = False
    depth = 0
    for token in file.tokens:
        if token.directive and token.text == token.directive:
            depth += (token.text in {"if", "ifdef"}) - (token.text == "endif" and depth > 0)
        elif token.kind is Kind.HEADER:
            name = token.text[1:-1].strip()
            if is_cuda_header(name):
                return False
            foreign |= depth == 0 and (is_hip_header(name) or name.startswith("musa"))
    return foreign


def hip_header(name: str) -> str | None:
    """The HIP header that stands for a CUDA one; None where there is none."""
    if name in table.HEADERS:
        return table.HEADERS[name]
    for rule, header in _RULES:
        if match := rule.fullmatch(name):
            return match.expand(header)
    return None


def local_path(tree: SourceTree, includer: str, name: str) -> str | None:
    """Path of the tree's own file that an include means; None for a header from outside."""
    for folder in (posixpath.dirname(includer), *tree.include_dirs):
        path = posixpath.normpath(posixpath.join(folder, name))
        if path in tree.files and path != includer:
            return path
    return None


def rename_includes(file: FileText, tree: SourceTree) -> None:
    """Puts HIP's headers in place of CUDA's; the tree's own headers keep their names."""
    for index, name in included(file):
        if local_path(tree, file.path, name):
            continue
        if name in table.DROPPED:
            _drop_line(file, index, name)
        elif name in table.KEPT:
            file.note(index, "include", f"{name}: {table.KEPT[name]}", Severity.WARNING)
        elif header := hip_header(name):
            left, right = file.tokens[index].text[0], file.tokens[index].text[-1]
            message = f"{name} -> {header}"
            file.replace(index, f"{left}{header}{right}", "include", message)
        elif why := next((why for rule, why in _UNSUPPORTED if rule.fullmatch(name)), None):
            file.note(index, "include", f"{name}: {why}", Severity.ERROR)


def _drop_line(file: FileText, index: int, name: str) -> None:
    """Removes a directive; its line stays, empty or with its comment."""
    first = index
    while file.tokens[first].text != "#":
        first -= 1
    file.replace(first, "", "include", f"{name} is not needed", last=index)
