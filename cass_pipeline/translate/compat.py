"""Adds the parts of `cass_hip_compat.h` that a translated tree uses.

The shipped header consists of a head and of sections, each opened by a line `//// name`. A section
is taken where the code uses a name that it declares, or another taken section does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from cass_pipeline.translate.identifiers import declared_names
from cass_pipeline.translate.lexer import Kind, tokenize

COMPAT_HEADER = "cass_hip_compat.h"

_OPENING = re.compile(r"^//// (.+)\n", re.MULTILINE)
_MADE = re.compile(r"^CASS_\w+\((\w+)", re.MULTILINE)
"""A function that one of the header's own macros makes."""


@dataclass(frozen=True)
class Section:
    """One section of the shipped header."""

    title: str
    text: str
    declares: frozenset[str]
    uses: frozenset[str]


@cache
def sections() -> tuple[str, tuple[Section, ...]]:
    """The shipped header: its head, and its sections in order."""
    text = files("cass_pipeline.translate").joinpath(COMPAT_HEADER).read_text(encoding="utf-8")
    head, *rest = _OPENING.split(text)
    made = []
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        declares = frozenset(declared_names(tokenize(body))) | frozenset(_MADE.findall(body))
        made.append(Section(title, body, declares, identifiers(body)))
    return head, tuple(made)


@cache
def compat_names() -> frozenset[str]:
    """Every name that the shipped header declares."""
    return frozenset().union(*(section.declares for section in sections()[1]))


@lru_cache(maxsize=512)
def identifiers(text: str) -> frozenset[str]:
    """Identifiers in the code of a text."""
    return frozenset(token.text for token in tokenize(text) if token.kind is Kind.NAME)


def compat_header(used: frozenset[str]) -> str | None:
    """The header with the sections that these names need; None where none is needed.

    Args:
        used: Identifiers of the translated code that the code does not declare itself.
    """
    head, available = sections()
    taken: set[str] = {s.title for s in available if s.declares & used}
    while True:
        wanted = {name for s in available if s.title in taken for name in s.uses - s.declares}
        more = {s.title for s in available if s.declares & wanted} - taken
        if not more:
            break
        taken |= more
    if not taken:
        return None
    parts = [f"// --- {s.title} ---\n{s.text}" for s in available if s.title in taken]
    return head + "".join(parts)
