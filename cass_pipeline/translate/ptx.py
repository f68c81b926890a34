"""Inline PTX: a few single instructions become HIP expressions, the rest is reported.

Each entry of `INSTRUCTIONS` says exactly what the PTX ISA reference says of that instruction; `{0}`
is the first operand of the `asm` statement, and so on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cass_pipeline.translate.interface import Severity
from cass_pipeline.translate.lexer import Kind
from cass_pipeline.translate.text import FileText

ASM_WORDS = frozenset({"asm", "__asm__", "__asm"})
_QUALIFIERS = frozenset({"volatile", "__volatile__", "inline", "__inline__"})

_AMD_INSTRUCTION = re.compile(r"(?:v|s|ds|global|flat|buffer|image)_\w+")
_ESCAPES = {"n": "\n", "t": "\t", "\n": ""}

INSTRUCTIONS: dict[str, str] = {
    "mov.u32 %0, %laneid": "{0} = __lane_id()",
    "mov.s32 %0, %laneid": "{0} = __lane_id()",
    "mov.u32 %0, %lanemask_lt": "{0} = (1u << __lane_id()) - 1u",
    "mov.u32 %0, %lanemask_eq": "{0} = 1u << __lane_id()",
    "mov.u32 %0, %lanemask_ge": "{0} = ~0u << __lane_id()",
    "mov.u32 %0, %tid.x": "{0} = threadIdx.x",
    "mov.u32 %0, %ctaid.x": "{0} = blockIdx.x",
    "bar.sync 0": "__syncthreads()",
    "barrier.sync 0": "__syncthreads()",
    "membar.cta": "__threadfence_block()",
    "membar.gl": "__threadfence()",
    "membar.sys": "__threadfence_system()",
    "fence.acq_rel.gpu": "__threadfence()",
    "trap": "__builtin_trap()",
    "exit": "__builtin_amdgcn_endpgm()",
    "brkpt": "__builtin_trap()",
    "bfe.u32 %0, %1, %2, %3": "{0} = __bitextract_u32({1}, {2}, {3})",
    "prmt.b32 %0, %1, %2, %3": "{0} = __byte_perm({1}, {2}, {3})",
    "popc.b32 %0, %1": "{0} = __popc({1})",
    "clz.b32 %0, %1": "{0} = __clz({1})",
    "brev.b32 %0, %1": "{0} = __brev({1})",
    "mul.hi.u32 %0, %1, %2": "{0} = __umulhi({1}, {2})",
    "fma.rn.f32 %0, %1, %2, %3": "{0} = __fmaf_rn({1}, {2}, {3})",
    "ex2.approx.f32 %0, %1": "{0} = __builtin_amdgcn_exp2f({1})",
    "ex2.approx.ftz.f32 %0, %1": "{0} = __builtin_amdgcn_exp2f({1})",
    "lg2.approx.f32 %0, %1": "{0} = __builtin_amdgcn_logf({1})",
    "lg2.approx.ftz.f32 %0, %1": "{0} = __builtin_amdgcn_logf({1})",
    "rcp.approx.f32 %0, %1": "{0} = __builtin_amdgcn_rcpf({1})",
    "rcp.approx.ftz.f32 %0, %1": "{0} = __builtin_amdgcn_rcpf({1})",
    "rsqrt.approx.f32 %0, %1": "{0} = __builtin_amdgcn_rsqf({1})",
    "rsqrt.approx.ftz.f32 %0, %1": "{0} = __builtin_amdgcn_rsqf({1})",
    "sqrt.approx.f32 %0, %1": "{0} = __builtin_amdgcn_sqrtf({1})",
    "sqrt.approx.ftz.f32 %0, %1": "{0} = __builtin_amdgcn_sqrtf({1})",
    "tanh.approx.f32 %0, %1": "{0} = tanhf({1})",
}


@dataclass(frozen=True)
class _Statement:
    """An `asm` statement: its tokens, its text with blanks evened out, its operands."""

    last: int
    ptx: str
    operands: tuple[str, ...]


def translate_asm(file: FileText) -> None:
    """Replaces the `asm` statements of the table; reports every other one."""
    for index, name in file.names():
        statement = _parse(file, index) if name in ASM_WORDS else None
        if statement is None:
            continue
        pattern = INSTRUCTIONS.get(statement.ptx)
        if pattern and pattern.count("{") <= len(statement.operands):
            text = pattern.format(*statement.operands)
            file.replace(index, text, "ptx", f"{statement.ptx} -> {text}", last=statement.last)
        elif not _AMD_INSTRUCTION.match(statement.ptx):
            message = f"inline PTX is not translated: {statement.ptx}"
            file.note(index, "inline-ptx", message, Severity.ERROR)


def _parse(file: FileText, index: int) -> _Statement | None:
    at = file.after(index)
    while file.text_at(at) in _QUALIFIERS and at is not None:
        at = file.after(at)
    if at is None or file.text_at(at) != "(":
        return None
    sections = _sections(file, at)
    if sections is None:
        return None
    (last, parts) = sections
    strings = [file.tokens[i].text for i in parts[0] if file.tokens[i].kind is Kind.STRING]
    operands = [text for part in parts[1:3] for text in _operands(file, part)]
    return _Statement(last, _normalised("".join(map(_unquoted, strings))), tuple(operands))


def _sections(file: FileText, opening: int) -> tuple[int, list[list[int]]] | None:
    """Index of the closing bracket, and the tokens between the colons of an `asm` statement."""
    depth = 0
    parts: list[list[int]] = [[]]
    for index in file.near(opening):
        text = file.tokens[index].text if file.tokens[index].kind is Kind.MARK else ""
        depth += (text in {"(", "["}) - (text in {")", "]"})
        if depth == 0:
            return index, parts
        if depth == 1 and text in {":", "::"}:
            parts.extend([[] for _ in text])
        elif index != opening:
            parts[-1].append(index)
    return None


def _operands(file: FileText, part: list[int]) -> list[str]:
    """The bracketed expression after each constraint string, with its brackets if it needs any."""
    operands: list[str] = []
    depth = 0
    inner: list[int] = []
    for index in part:
        text = file.tokens[index].text
        depth -= text == ")"
        if depth == 0 and text == ")":
            operands.append(_expression(file, inner))
            inner = []
        elif depth > 0:
            inner.append(index)
        depth += text == "("
    return operands


def _expression(file: FileText, inner: list[int]) -> str:
    return "".join(file.output[index] for index in inner).strip()


def _unquoted(literal: str) -> str:
    if literal.startswith('R"'):
        return literal[literal.index("(") + 1 : literal.rindex(")")]
    return re.sub(r"\\([\s\S])", lambda m: _ESCAPES.get(m[1], m[1]), literal.strip('"'))


def _normalised(ptx: str) -> str:
    text = re.sub(r"\s+", " ", ptx.replace("%%", "%")).strip().rstrip(";").strip()
    return re.sub(r"\s*,\s*", ", ", text)
