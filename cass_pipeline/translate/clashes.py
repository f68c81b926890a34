"""Functions that a program defines because CUDA lacks them, and HIP's headers have."""

from __future__ import annotations

from cass_pipeline.translate.identifiers import NOT_TYPES
from cass_pipeline.translate.interface import Severity
from cass_pipeline.translate.lexer import Kind
from cass_pipeline.translate.text import FileText

HIP_DEFINES: dict[str, frozenset[str]] = {
    "atomicAdd": frozenset({"double"}),
    "atomicMax": frozenset({"float", "double"}),
    "atomicMin": frozenset({"float", "double"}),
}
"""Functions of `amd_hip_atomic.h`, and what their first parameter points to."""

_QUALIFIERS = frozenset({"const", "volatile"})


def set_definitions_aside(file: FileText) -> None:
    """Gives such a definition another name, so that calls mean HIP's function."""
    for index, name in file.names():
        if name in HIP_DEFINES and _follows_type(file, index):
            pointee = _pointee(file, index)
            if pointee in HIP_DEFINES[name]:
                message = f"the program's own {name} for {pointee} gives way to HIP's"
                aside = f"cass_own_{name}"
                file.replace(index, aside, "own-definition", message, severity=Severity.WARNING)


def _pointee(file: FileText, index: int) -> str:
    """What the first parameter of a declared function points to; empty if it is no pointer."""
    opening = file.after(index)
    if opening is None or file.text_at(opening) != "(":
        return ""
    kind = file.after(opening)
    while kind is not None and file.text_at(kind) in _QUALIFIERS:
        kind = file.after(kind)
    if kind is None or file.text_at(file.after(kind)) != "*":
        return ""
    return file.text_at(kind)


def _follows_type(file: FileText, index: int) -> bool:
    """Whether the token before can end the return type of a declaration."""
    before = file.before(index)
    return (
        before is not None
        and file.tokens[before].kind is Kind.NAME
        and file.text_at(before) not in NOT_TYPES
    )
