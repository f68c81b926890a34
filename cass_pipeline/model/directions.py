"""The four translations that a model learns, and how each is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["cuda", "hip", "sass", "rdna3"]

NAMES: dict[Language, str] = {"cuda": "CUDA", "hip": "HIP", "sass": "SASS", "rdna3": "RDNA3"}
"""Languages as people write them."""


@dataclass(frozen=True)
class Direction:
    """One translation."""

    source: Language
    target: Language

    @property
    def name(self) -> str:
        """As it stands in tables: `cuda_to_hip`."""
        return f"{self.source}_to_{self.target}"


SOURCE_DIRECTIONS = (Direction("cuda", "hip"), Direction("hip", "cuda"))
"""Between source texts: one record for the main file of a pair."""

ASSEMBLY_DIRECTIONS = (Direction("sass", "rdna3"), Direction("rdna3", "sass"))
"""Between listings: one record for a kernel on one target of each side."""

DIRECTIONS = {direction.name: direction for direction in (*SOURCE_DIRECTIONS, *ASSEMBLY_DIRECTIONS)}


def source_instruction(direction: Direction) -> str:
    """What the model is told about a source file."""
    return f"Translate this {NAMES[direction.source]} file to {NAMES[direction.target]}."


def assembly_instruction(direction: Direction, signature: str, sm_arch: str, gfx_arch: str) -> str:
    """What the model is told about a kernel: a listing alone does not hold its parameters."""
    arch: dict[Language, str] = {"sass": sm_arch, "rdna3": gfx_arch}
    source, target = direction.source, direction.target
    return (
        f"Translate this {NAMES[source]} kernel for {arch[source]} to {NAMES[target]} "
        f"for {arch[target]}: {signature}"
    )
