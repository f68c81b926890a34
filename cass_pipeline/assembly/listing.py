"""What both vendors' listings have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_OPEN, _CLOSE = "([{<", ")]}>"


@dataclass(frozen=True)
class Instruction:
    """One instruction of a listing."""

    mnemonic: str
    """With its modifiers (`LDG.E`), a dual issue as `first :: second`."""
    operands: tuple[str, ...]
    predicate: str = ""
    """NVIDIA: the guard, e.g. `@!P0`; empty on AMD."""

    def __str__(self) -> str:
        """The instruction as the normalised listing has it."""
        head = f"{self.predicate} {self.mnemonic}" if self.predicate else self.mnemonic
        return f"{head} {', '.join(self.operands)}" if self.operands else head


def opcode_histogram(instructions: Iterable[Instruction]) -> Counter[str]:
    """How often each mnemonic occurs; both halves of a dual issue count."""
    return Counter(
        opcode for instruction in instructions for opcode in instruction.mnemonic.split(" :: ")
    )


def split_operands(text: str) -> tuple[str, ...]:
    """Operands of an instruction: split at commas outside brackets and quotes."""
    parts: list[str] = []
    depth, start, quoted = 0, 0, False
    for at, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif char == "," and depth <= 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return tuple(part for part in parts if part)
