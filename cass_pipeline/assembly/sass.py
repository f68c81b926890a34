"""SASS as nvdisasm (`nvdisasm -c`) prints it.

The normalised form of a function, one instruction a line:

        .entry _Z6kernelPf
    _Z6kernelPf:
        MOV R1, c[0x0][0x28]
        @P0 BRA `(.L_0)
    .L_0:
        EXIT

`.entry` introduces a kernel, `.func` a device function. Addresses, section directives, labels
that nothing names and the NOPs that fill up the last cache line are left out; labels are counted
anew in each function, so that a function reads the same whatever stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cass_pipeline.assembly.listing import Instruction, split_operands

_SECTION = re.compile(r"^\s*\.section\s+\.text\.(\S+?),")
_OTHER_SECTION = re.compile(r"^\s*\.section\s")
_ENTRY = re.compile(r'^\s*\.other\s+(\S+?),@"[^"]*STO_CUDA_ENTRY')
_LABEL = re.compile(r"^([.$\w]\S*):$")
_ADDRESSED = re.compile(r"^\s*(?:\{\s*)?/\*[0-9a-fA-F]{4,}\*/\s*(.*)$")
_COMMENT = re.compile(r"/\*.*?\*/")
_LOCAL_LABEL = re.compile(r"\.L_x_\d+\b")
_HEAD = re.compile(r"^\t\.(entry|func) (\S+)$")
_GUARD = re.compile(r"@!?U?P\w+ ")


def normalise(text: str) -> str:
    """The normalised listing of what nvdisasm printed; empty where it holds no code."""
    blocks = [block for block in _blocks(text) if block]
    return "\n".join(blocks)


def split(listing: str) -> dict[str, str]:
    """Listing of each function of a normalised listing, by mangled name."""
    functions: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in listing.split("\n"):
        if head := _HEAD.match(line):
            current = functions.setdefault(head[2], [])
        if current is not None and line:
            current.append(line)
    return {name: "\n".join(lines) + "\n" for name, lines in functions.items()}


def kernels(listing: str) -> list[str]:
    """Mangled names of the kernels in a normalised listing, in order."""
    heads = (_HEAD.match(line) for line in listing.split("\n"))
    return [head[2] for head in heads if head and head[1] == "entry"]


def instructions(function: str) -> list[Instruction]:
    """Instructions of a normalised function, in order."""
    return [
        _parse(line.strip())
        for line in function.split("\n")
        if line.startswith("\t") and not line.startswith("\t.") and line.strip()
    ]


def _parse(line: str) -> Instruction:
    guard, _, rest = line.partition(" ") if _GUARD.match(line) else ("", "", line)
    mnemonic, _, operands = rest.strip().partition(" ")
    return Instruction(mnemonic, split_operands(operands), guard)


def _blocks(text: str) -> Iterator[str]:
    """One normalised function for each code section."""
    name: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        found = _SECTION.match(line)
        if found or _OTHER_SECTION.match(line):
            yield _function(name, lines)
            name, lines = found[1] if found else None, []
        elif name is not None:
            lines.append(line)
    yield _function(name, lines)


def _function(name: str | None, lines: list[str]) -> str:
    if name is None:
        return ""
    entry = any((found := _ENTRY.match(line)) and found[1] == name for line in lines)
    body = _without_padding([part for line in lines if (part := _line(line, name))])
    head = [f"\t.{'entry' if entry else 'func'} {name}", f"{name}:"]
    return "\n".join([*head, *_own_labels(body)]) + "\n"


def _line(line: str, name: str) -> str:
    """A label or an instruction as it is kept, or nothing."""
    if label := _LABEL.match(line):
        return "" if label[1] in (name, f".text.{name}") else f"{label[1]}:"
    if found := _ADDRESSED.match(line):
        code = _COMMENT.sub("", found[1]).strip().rstrip("}").rstrip().rstrip(";").strip()
        return f"\t{' '.join(code.split())}" if code else ""
    return ""


def _without_padding(lines: list[str]) -> list[str]:
    """Without the NOPs at the end; labels between and behind them stay."""
    end = len(lines)
    while end and (lines[end - 1] == "\tNOP" or not lines[end - 1].startswith("\t")):
        end -= 1
    return [*lines[:end], *(line for line in lines[end:] if not line.startswith("\t"))]


def _own_labels(lines: list[str]) -> list[str]:
    named = {
        label for line in lines if line.startswith("\t") for label in _LOCAL_LABEL.findall(line)
    }
    numbers: dict[str, str] = {}
    for line in lines:
        if not line.startswith("\t") and line[:-1] in named:
            numbers.setdefault(line[:-1], f".L_{len(numbers)}")
    kept = (
        line
        for line in lines
        if line.startswith("\t") or not _LOCAL_LABEL.fullmatch(line[:-1]) or line[:-1] in named
    )
    return [_LOCAL_LABEL.sub(lambda found: numbers.get(found[0], found[0]), line) for line in kept]
