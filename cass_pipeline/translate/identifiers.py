"""The index of names that the HIP headers declare, and the scan that makes it.

`hip_identifiers.txt` is the scan's result for the pinned header packages. It is shipped so that
translating needs no toolchain; a test scans the installed headers again and compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from cass_pipeline.translate.lexer import Kind, Token, tokenize

LIBRARY_FOLDERS = ("hip", "hipblas", "hipcub", "hipfft", "hiprand", "hipsolver", "hipsparse")
"""Folders of the include root whose names translated code may use."""
SKIPPED_FOLDERS = frozenset({"nvidia_detail", "nvcc_detail", "hcc_detail", "cub"})
"""The headers' other side (for NVIDIA hardware) and their outdated copies."""
SKIPPED_FILES = frozenset({"hip_prof_str.h", "hip_runtime_prof.h"})
"""Tracing tables: they name entry points that no public header declares."""

_SNAPSHOT = "hip_identifiers.txt"
NOT_TYPES = frozenset(
    {"return", "case", "goto", "throw", "new", "delete", "else", "and", "or", "not"}
)
"""Words that can stand before a name without declaring it."""
_NOT_FUNCTIONS = frozenset(
    {"alignas", "alignof", "decltype", "for", "if", "noexcept", "operator", "return", "sizeof"}
    | {"static_assert", "switch", "typeid", "while", "bool", "char", "double", "float", "int"}
    | {"long", "short", "signed", "unsigned", "void"}
)
_UNDEFINED_MACROS = frozenset({"OCML_BASIC_ROUNDED_OPERATIONS"})
"""What these macros switch on is not declared: the headers leave them undefined."""
_DECLARING_MACROS = {"DEFINE_HIPRAND_STATE": ("{}", "{}_t")}
"""Header macros whose first argument becomes these names."""
_TYPE_WORDS = frozenset({"struct", "class", "union", "enum"})
_HEADER_SUFFIXES = frozenset({".h", ".hpp", ""})


@cache
def hip_identifiers() -> frozenset[str]:
    """The shipped index."""
    text = files("cass_pipeline.translate").joinpath(_SNAPSHOT).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def scan_headers(include_root: Path) -> list[str]:
    """Names declared by the public HIP headers below `include_root`, sorted.

    Args:
        include_root: The folder that holds `hip/hip_runtime.h`.
    """
    names: set[str] = set()
    for path in sorted(_public_headers(include_root)):
        names |= declared_names(tokenize(path.read_text(encoding="utf-8", errors="replace")))
    return sorted(names)


def snapshot_text(names: Iterable[str]) -> str:
    """What `hip_identifiers.txt` holds for these names."""
    head = "# Names declared by the HIP headers; made by cass_pipeline.translate.identifiers."
    return "\n".join((head, *names, ""))


def declared_names(tokens: Sequence[Token]) -> set[str]:
    """Functions, types, enumerators and macros declared by one C++ text, without compiling it.

    A name counts as a function where it follows another word and opens a parenthesis, as a type
    after `struct` and kin or at the end of a `typedef`, as an enumerator at the start of an item
    of an `enum`.
    """
    tokens = [token for token in _active(tokens) if not token.is_blank]
    code = [token for token in tokens if not token.directive and token.text != "#"]
    kinds = (_macros(tokens), _functions(code), _types(code), _enumerators(code), _made(code))
    return {name for kind in kinds for name in kind}


def _public_headers(include_root: Path) -> Iterator[Path]:
    for folder in LIBRARY_FOLDERS:
        for path in (include_root / folder).rglob("*"):
            parts = path.relative_to(include_root).parts
            if (
                path.is_file()
                and path.suffix in _HEADER_SUFFIXES
                and path.name not in SKIPPED_FILES
                and not SKIPPED_FOLDERS.intersection(parts)
            ):
                yield path


def _active(tokens: Sequence[Token]) -> Iterator[Token]:
    """Leaves out what stands under `#if defined` of an undefined macro."""
    depth = 0
    hidden_at = 0
    opens = False
    for token in tokens:
        if token.directive and token.text == token.directive:
            depth += token.text.startswith("if")
            opens = token.text in {"if", "ifdef"}
            if depth == hidden_at and token.text in {"else", "elif", "endif"}:
                hidden_at = 0
            depth -= token.text == "endif"
        elif opens and token.text in _UNDEFINED_MACROS and not hidden_at:
            hidden_at = depth
        elif token.kind is Kind.NEWLINE:
            opens = False
        if not hidden_at:
            yield token


def _macros(tokens: Sequence[Token]) -> Iterator[str]:
    for before, token in pairwise(tokens):
        if before.text == before.directive == "define" and token.kind is Kind.NAME:
            yield token.text


def _functions(code: Sequence[Token]) -> Iterator[str]:
    for before, token, after in zip(code, code[1:], code[2:], strict=False):
        word = before.kind is Kind.NAME and before.text not in NOT_TYPES
        follows_type = word or before.text in {"*", "&", ">"}
        named = token.kind is Kind.NAME and token.text not in _NOT_FUNCTIONS
        if named and after.text == "(" and follows_type:
            yield token.text


def _types(code: Sequence[Token]) -> Iterator[str]:
    depth = 0
    typedef: int | None = None
    for before, token, after in zip(code, code[1:], code[2:], strict=False):
        depth += (before.text == "{") - (before.text == "}")
        if before.text == "typedef":
            typedef = depth
        elif before.text == ";" and depth == typedef:
            typedef = None
        if token.kind is not Kind.NAME:
            continue
        named = before.text in _TYPE_WORDS and token.text not in _TYPE_WORDS
        alias = before.text == "using" and after.text == "="
        is_pointer = before.text == "*" and after.text == ")"
        ends_typedef = depth == typedef and (after.text in {";", "["} or is_pointer)
        ends_body = before.text == "}" and after.text == ";"
        if named or alias or ends_typedef or ends_body:
            yield token.text


def _enumerators(code: Sequence[Token]) -> Iterator[str]:
    opening = False
    inside = False
    for before, token in pairwise(code):
        opening = (opening or before.text == "enum") and before.text not in {";", "{", ")"}
        if opening and token.text == "{":
            inside = True
        elif token.text == "}":
            inside = False
        elif inside and token.kind is Kind.NAME and before.text in {"{", ","}:
            yield token.text


def _made(code: Sequence[Token]) -> Iterator[str]:
    for macro, opening, token in zip(code, code[1:], code[2:], strict=False):
        if opening.text == "(":
            for pattern in _DECLARING_MACROS.get(macro.text, ()):
                yield pattern.format(token.text)
