"""RDNA3 assembly as clang prints it (`-S`), which assembles to the code object.

The normalised form is the same text without comments, debug and unwind directives, notes and the
`s_code_end` fill behind the last function. It assembles to the same instructions: kernel
descriptors, data, alignment and the metadata block are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cass_pipeline.assembly.listing import Instruction, split_operands

# What a debugger, an unwinder or a linker's statistics would read.
_DROPPED = re.compile(
    r"\.(?:cfi_\w+|file|loc|ident|addrsig\w*|p2alignl\s+\d+,\s*3214868480"
    r"|fill\s+\d+,\s*4,\s*3214868480)\b"
)
_DROPPED_SECTIONS = re.compile(
    r'"?\.(?:AMDGPU\.csdata|AMDGPU\.gpr_maximums|debug\w*|note\.GNU-stack)'
)
_SECTION = re.compile(r"\.(?:(text|data|bss)\b|(?:push)?section\s+(\S+))")
# Names that hold more than ASCII letters, digits, `.`, `_` and `$` are quoted.
_FUNCTION = re.compile(r'\.type\s+"?([^\s"]+)"?,\s*@function$')
_KERNEL = re.compile(r'\.amdhsa_kernel\s+"?([^\s"]+)"?$')
_LABEL = re.compile(r'^"?([^\s"]+)"?:$')
_FUNCTION_END = re.compile(r"\.Lfunc_end\d+:$")
_QUOTED = re.compile(r'("(?:\\.|[^"\\])*(?:"|$))')
_METADATA, _END_METADATA = ".amdgpu_metadata", ".end_amdgpu_metadata"
_DUAL = " :: "


@dataclass(frozen=True)
class Function:
    """One function of a listing."""

    name: str
    """Mangled name."""
    body: str
    """Its label, local labels and instructions."""
    descriptor: dict[str, str] | None = None
    """The `.amdhsa_` block of a kernel, names without that prefix; None for other functions."""


@dataclass(frozen=True)
class Listing:
    """A parsed listing."""

    functions: tuple[Function, ...]
    metadata: str = ""
    """The YAML text between `.amdgpu_metadata` and its end."""


@dataclass
class _Reading:
    """State of the one pass over a listing."""

    declared: set[str] = field(default_factory=set)
    bodies: dict[str, list[str]] = field(default_factory=dict)
    descriptors: dict[str, dict[str, str]] = field(default_factory=dict)
    current: str | None = None
    kernel: str | None = None


def normalise(text: str) -> str:
    """The normalised listing of clang's assembly."""
    return "".join(f"{line}\n" for line in _kept_lines(text))


def parse(listing: str) -> Listing:
    """Functions and metadata of a listing, normalised or as clang prints it."""
    code, _, rest = normalise(listing).partition(f"\t{_METADATA}\n")
    metadata = rest.partition(f"\t{_END_METADATA}\n")[0]
    reading = _Reading()
    for line in code.split("\n"):
        _read(reading, line)
    functions = (
        Function(name, "".join(f"{line}\n" for line in lines), reading.descriptors.get(name))
        for name, lines in reading.bodies.items()
    )
    return Listing(tuple(functions), metadata)


def split(listing: str) -> dict[str, str]:
    """Label, local labels and instructions of each function, by mangled name."""
    return {function.name: function.body for function in parse(listing).functions}


def instructions(function: str) -> list[Instruction]:
    """Instructions of a function, in order."""
    lines = (line.strip() for line in function.split("\n"))
    return [_instruction(line) for line in lines if line and not _is_directive(line)]


def _instruction(line: str) -> Instruction:
    halves = [half.split(None, 1) for half in line.split(_DUAL) if half.strip()]
    mnemonic = _DUAL.join(half[0] for half in halves)
    operands = [part for half in halves for part in split_operands("".join(half[1:]))]
    return Instruction(mnemonic, tuple(operands))


def _is_directive(line: str) -> bool:
    return line.startswith(".") or line.endswith(":")


def _read(reading: _Reading, line: str) -> None:
    stripped = line.strip()
    if declared := _FUNCTION.match(stripped):
        reading.declared.add(declared[1])
    elif kernel := _KERNEL.match(stripped):
        reading.current, reading.kernel = None, kernel[1]
        reading.descriptors[kernel[1]] = {}
    elif stripped == ".end_amdhsa_kernel":
        reading.kernel = None
    elif reading.kernel is not None:
        key, _, value = stripped.partition(" ")
        reading.descriptors[reading.kernel][key.removeprefix(".amdhsa_")] = value
    elif _FUNCTION_END.match(stripped):
        reading.current = None
    elif (label := _LABEL.match(line)) and label[1] in reading.declared:
        reading.current = label[1]
        reading.bodies[label[1]] = [line]
    elif reading.current is not None and _is_code(stripped):
        reading.bodies[reading.current].append(line)


def _is_code(line: str) -> bool:
    return bool(line) and (line.endswith(":") or not line.startswith("."))


def _kept_lines(text: str) -> Iterator[str]:
    """Lines of the normalised form; metadata stays as it is, as `;` is no comment in YAML."""
    in_metadata = dropped_section = False
    for raw in text.split("\n"):
        stripped = raw.strip()
        if in_metadata or stripped == _METADATA:
            in_metadata = stripped != _END_METADATA
            if stripped:
                yield raw.rstrip()
            continue
        line = _without_comment(raw).rstrip()
        stripped = line.strip()
        if section := _SECTION.match(stripped):
            dropped_section = bool(section[2] and _DROPPED_SECTIONS.match(section[2]))
        if stripped and not dropped_section and not _DROPPED.match(stripped):
            yield line


def _without_comment(line: str) -> str:
    if ";" not in line and "//" not in line:
        return line
    kept: list[str] = []
    for part in _QUOTED.split(line):
        if part.startswith('"'):
            kept.append(part)
            continue
        code = re.split(r";|//", part, maxsplit=1)[0]
        kept.append(code)
        if code != part:
            break
    return "".join(kept)
