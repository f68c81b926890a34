"""Resources of each kernel, as `ptxas -v` prints them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_COMPILING = re.compile(r"Compiling entry function '(\S+)' for '(\w+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass
class EntryResources:
    """What ptxas says of one kernel on one target."""

    registers: int = 0
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    shared_bytes: int = 0


@dataclass
class _Reading:
    entries: dict[tuple[str, str], EntryResources] = field(default_factory=dict)
    current: EntryResources | None = None
    name: str = ""


def entry_resources(messages: str) -> dict[tuple[str, str], EntryResources]:
    """Resources by (target, mangled name).

    Args:
        messages: standard error of ptxas, or of an nvcc run that passed `-v` to it.
    """
    reading = _Reading()
    own_frame = False
    for line in messages.splitlines():
        if found := _COMPILING.search(line):
            reading.name, own_frame = found[1], False
            reading.current = reading.entries.setdefault((found[2], found[1]), EntryResources())
        elif found := _PROPERTIES.search(line):
            # Device functions called by the kernel have property lines of their own.
            own_frame = found[1] == reading.name
        elif reading.current is None:
            continue
        elif found := _STACK.search(line):
            if own_frame:
                reading.current.stack_bytes = int(found[1])
                reading.current.spill_store_bytes = int(found[2])
        elif found := _USED.search(line):
            reading.current.registers = int(found[1])
            if shared := _SHARED.search(line):
                reading.current.shared_bytes = int(shared[1])
    return reading.entries
