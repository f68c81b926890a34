"""Host assembly text without the device binaries that the compilers embed in it."""

from __future__ import annotations

import re

EMBEDDED_SECTIONS = frozenset({".nv_fatbin", "__nv_relfatbin", ".hip_fatbin"})
"""Sections that hold device code: nvcc's, nvcc's with `-rdc`, clang's."""

_SECTION = re.compile(r'^\s*\.(?:push)?section\s+"?([^\s",]+)')
_SHORT = re.compile(r"^\s*\.(text|data|bss)\b")


def without_embedded_code(assembly: str) -> str:
    """`assembly` without what stands in `EMBEDDED_SECTIONS`; all other lines are as they were."""
    kept: list[str] = []
    section = ".text"
    for line in assembly.splitlines(keepends=True):
        if found := _SECTION.match(line):
            section = found[1]
        elif short := _SHORT.match(line):
            section = f".{short[1]}"
        if section not in EMBEDDED_SECTIONS:
            kept.append(line)
    return "".join(kept)
