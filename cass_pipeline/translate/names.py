"""Finds the HIP name of a CUDA name, and renames identifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from cass_pipeline.translate import name_table as table
from cass_pipeline.translate.compat import compat_names
from cass_pipeline.translate.identifiers import hip_identifiers
from cass_pipeline.translate.interface import Severity
from cass_pipeline.translate.text import FileText

_RULES = tuple((re.compile(pattern), templates) for pattern, templates in table.RULES)
_CUDA_ONLY = re.compile(f"(?:{table.UNKNOWN_IS_ERROR})|(?:{table.UNKNOWN_DEVICE})")
_FEATURE_MACROS = frozenset({"__CUDACC__", "__NVCC__"})
_PORTED_MACROS = frozenset({"__HIPCC__", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__"})
_FIELD = re.compile(r"\{1(?::(\w+))?\}")
_FORMS: dict[str | None, Callable[[str], str]] = {
    None: lambda text: text,
    "camel": lambda text: "".join(part.capitalize() for part in text.split("_")),
    "first": lambda text: text[:1].upper() + text[1:],
}


@cache
def hip_name(name: str) -> str | None:
    """The declared HIP name for a CUDA name; None where there is none."""
    return next((hip for hip in _proposals(name) if hip in _declared()), None)


@cache
def _declared() -> frozenset[str]:
    """Every name that translated code may use."""
    return hip_identifiers() | compat_names() | table.COMPILER_MACROS


def is_cuda_only(name: str) -> bool:
    """Whether a name can hardly be anything but one of CUDA's, and is declared nowhere here."""
    return _CUDA_ONLY.fullmatch(name) is not None and name not in _declared()


def rename_names(file: FileText, own: frozenset[str], changes: Mapping[str, str]) -> None:
    """Renames API names, pasted prefixes and namespaces in code and macro bodies.

    Args:
        file: The file.
        own: Names that the program itself declares; those without a HIP name are left in peace.
        changes: Names that get another HIP name in this tree than the table gives.
    """
    kept = _FEATURE_MACROS if _is_ported_here(file) else frozenset()
    for index, name in file.names():
        if name in kept:
            continue
        pasted = table.PASTED_PREFIXES.get(name)
        if pasted and file.text_at(file.after(index)) == "##":
            file.replace(index, pasted, "api-name", f"pasted {name} -> {pasted}")
        elif hip := _in_context(file, index) or changes.get(name) or hip_name(name):
            file.replace(index, hip, "api-name", f"{name} -> {hip}")
        elif is_cuda_only(name) and name not in own:
            message = f"{name} has no counterpart in the HIP headers"
            file.note(index, "unknown-api", message, Severity.ERROR)


def _is_ported_here(file: FileText) -> bool:
    """Whether a file asks for HIP's compiler itself: CUDA's branches are then not for HIP."""
    return any(name in _PORTED_MACROS for _, name in file.names())


def _proposals(name: str) -> Iterator[str]:
    if name in table.EXCEPTIONS:
        yield table.EXCEPTIONS[name]
    for pattern, templates in _RULES:
        if match := pattern.fullmatch(name):
            for template in templates:
                yield _filled(template, match[1])


def _filled(template: str, text: str) -> str:
    return _FIELD.sub(lambda field: _FORMS[field[1]](text), template)


def _in_context(file: FileText, index: int) -> str | None:
    """The new name of an identifier that is CUDA's only where it stands as a certain thing."""
    member = table.MEMBERS.get(file.text_at(index))
    if member and file.text_at(file.before(index)) in {".", ">"}:
        return member
    return _namespace(file, index)


def _namespace(file: FileText, index: int) -> str | None:
    """The new name of a namespace, where the identifier is part of one in the table."""
    name = file.text_at(index)
    if not any(path[-1] == name for path in table.NAMESPACES):
        return None
    path = [name]
    before = file.before(index)
    while file.text_at(before) == "::" and before is not None:
        outer = file.before(before)
        if outer is None or not file.text_at(outer).isidentifier():
            break
        path.insert(0, file.text_at(outer))
        before = file.before(outer)
    known = path != ["cub"] or _has_known_member(file, index)
    return table.NAMESPACES.get(tuple(path)) if known and _names_namespace(file, index) else None


def _has_known_member(file: FileText, index: int) -> bool:
    """Whether what follows `cub::` is declared by hipCUB; a mere mention of `cub` counts too."""
    colons = file.after(index)
    if colons is None or file.text_at(colons) != "::":
        return True
    return file.text_at(file.after(colons)) in hip_identifiers()


def _names_namespace(file: FileText, index: int) -> bool:
    """Whether an identifier stands where a namespace is named, not a variable or a type."""
    before = file.before(index)
    earlier = file.text_at(file.before(before)) if before is not None else ""
    return (
        file.text_at(file.after(index)) == "::"
        or file.text_at(before) == "namespace"
        or (file.text_at(before) == "=" and _is_alias(file, before, earlier))
    )


def _is_alias(file: FileText, equals: int | None, alias: str) -> bool:
    """Whether `alias = ` continues `namespace`."""
    name = file.before(equals) if equals is not None else None
    return bool(alias) and name is not None and file.text_at(file.before(name)) == "namespace"
