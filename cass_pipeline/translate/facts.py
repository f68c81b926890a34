"""What the rules need to know about the whole tree before they change a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cass_pipeline.translate.identifiers import NOT_TYPES, declared_names
from cass_pipeline.translate.includes import (
    included,
    is_cuda_header,
    is_hip_header,
    is_ported,
    local_path,
)
from cass_pipeline.translate.lexer import Kind, Token
from cass_pipeline.translate.names import hip_name
from cass_pipeline.translate.text import FileText
from cass_pipeline.units import SourceTree

FULL_MASK = re.compile(
    r"(?:\(\s*(?:unsigned|unsigned\s+int|uint32_t|int)\s*\))?"
    r"(?:0[xX][fF]{8}(?:[fF]{8})?[uUlL]*|~0[xX]?0*[uUlL]*|-1|UINT_MAX|4294967295[uUlL]*)"
)
"""A lane mask of 32 ones as a literal, blanks removed."""

_AFTER_VARIABLE = frozenset({";", ",", ")", "=", "[", "{", ":"})
_CONSTANT = frozenset({"const", "constexpr"})
_STATEMENT_ENDS = frozenset({";", "{", "}", "(", ")"})
_BEFORE_VARIABLE = frozenset({"*", "&", ">"})


@dataclass(frozen=True)
class TreeFacts:
    """Facts about a tree, gathered once."""

    own_names: frozenset[str]
    """Names that the tree's files declare."""
    full_masks: frozenset[str]
    """Names of constants and macros that are a lane mask of 32 ones."""
    is_hip: bool
    """The tree is HIP already: it includes HIP's headers and nothing of CUDA's."""
    name_changes: Mapping[str, str]
    """Names whose HIP name depends on the tree's other libraries."""


def gather(tree: SourceTree, files: list[FileText]) -> TreeFacts:
    """Reads all files of a tree for facts."""
    own: set[str] = set()
    outside: set[str] = set()
    uses_cuda = False
    for file in files:
        for _, name in included(file):
            if not local_path(tree, file.path, name):
                outside.add(name)
        if is_ported(file):
            continue
        own |= declared_names(file.tokens)
        own |= set(_variables(file))
        own |= set(_namespaces(file))
        uses_cuda = uses_cuda or any(n[:4] == "cuda" and hip_name(n) for _, n in file.names())
    return TreeFacts(
        own_names=frozenset(own),
        full_masks=_full_masks(files),
        is_hip=any(map(is_hip_header, outside))
        and not any(map(is_cuda_header, outside))
        and not uses_cuda,
        name_changes=_data_types(outside),
    )


def _variables(file: FileText) -> Iterator[str]:
    code = [t for t in file.tokens if not t.is_blank and t.directive in {"", "define"}]
    for before, token, after in zip(code, code[1:], code[2:], strict=False):
        word = before.kind is Kind.NAME and before.text not in NOT_TYPES
        if (
            token.kind is Kind.NAME
            and (word or before.text in _BEFORE_VARIABLE)
            and after.text in _AFTER_VARIABLE
        ):
            yield token.text


def _namespaces(file: FileText) -> Iterator[str]:
    for index, name in file.names():
        if name == "namespace" and file.text_at(file.after(index)).isidentifier():
            yield file.text_at(file.after(index))


def _data_types(outside: set[str]) -> Mapping[str, str]:
    """hipSPARSE takes HIP's own data types, hipBLAS (whose names are the default) has its own."""
    if "cusparse.h" in outside and not any(name.startswith("cublas") for name in outside):
        kinds = ("R_16F", "R_32F", "R_64F", "C_32F", "C_64F", "R_8I", "R_32I")
        changes = {f"CUDA_{kind}": f"HIP_{kind}" for kind in kinds}
        return changes | {"cudaDataType": "hipDataType", "cudaDataType_t": "hipDataType"}
    return {}


def _full_masks(files: list[FileText]) -> frozenset[str]:
    """Names whose every definition in the tree is the full mask."""
    full: set[str] = set()
    other: set[str] = set()
    for file in files:
        code = [token for token in file.tokens if not token.is_blank or token.text == "\n"]
        for name, value in (*_macro_values(code), *_constant_values(code)):
            (full if FULL_MASK.fullmatch(value) else other).add(name)
    return frozenset(full - other)


def _macro_values(code: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for index, token in enumerate(code[:-1]):
        name = code[index + 1]
        if token.text == token.directive == "define" and name.kind is Kind.NAME:
            value = ""
            for part in code[index + 2 :]:
                if part.directive != "define":
                    break
                value += "" if part.is_blank else part.text
            yield name.text, value.removeprefix("(").removesuffix(")")


def _constant_values(code: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Name and value of each constant; names that are also anything else get an empty value."""
    constant = False
    for index, (token, after) in enumerate(pairwise(code)):
        constant = (constant or token.text in _CONSTANT) and token.text not in _STATEMENT_ENDS
        if token.kind is not Kind.NAME or after.text not in _AFTER_VARIABLE:
            continue
        if after.text == "=":
            value = _value(code[index + 2 : index + 14])
            yield token.text, value if constant else ""
        elif index and code[index - 1].kind is Kind.NAME:
            yield token.text, ""


def _value(code: Sequence[Token]) -> str:
    """The tokens up to the end of an initialiser, joined."""
    value = ""
    for part in code:
        if part.text in {";", ","}:
            break
        value += part.text
    return value
