"""Adds the parts of `cass_hip_compat.h` that a translated tree uses.

The shipped header consists of a head and of sections, each opened by a line `//// title`. A section
is taken where the code uses a name that it declares, or another taken section does. A section that
also overloads names which HIP has says which of its names count: `//// title <- pattern`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from cass_pipeline.translate.identifiers import declared_names
from cass_pipeline.translate.lexer import Kind, tokenize

COMPAT_HEADER = "cass_hip_compat.h"

_OPENING = re.compile(r"^//// ([^<\n]+?)(?: <- (.+))?\n", re.MULTILINE)
_MADE = re.compile(r"^CASS_\w+\((\w+)(?:, (__\w+))?", re.MULTILINE)
"""Functions that one of the header's own macros makes."""


@dataclass(frozen=True)
class Section:
    """One section of the shipped header."""

    title: str
    text: str
    declares: frozenset[str]
    uses: frozenset[str]
    """Identifiers of its text."""
    wanted_by: frozenset[str]
    """Those of its names whose use calls for the section."""


@cache
def sections() -> tuple[str, tuple[Section, ...]]:
    """The shipped header: its head, and its sections in order."""
    text = files("cass_pipeline.translate").joinpath(COMPAT_HEADER).read_text(encoding="utf-8")
    head, *rest = _OPENING.split(text)
    made = []
    for title, pattern, body in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        declares = frozenset(declared_names(tokenize(body))) | _made(body)
        wanted_by = frozenset(n for n in declares if re.fullmatch(pattern or ".*", n))
        made.append(Section(title, body, declares, identifiers(body), wanted_by))
    return head, tuple(made)


def _made(text: str) -> frozenset[str]:
    return frozenset(name for names in _MADE.findall(text) for name in names if name)


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
    taken: set[str] = {s.title for s in available if s.wanted_by & used}
    while True:
        wanted = {name for s in available if s.title in taken for name in s.uses - s.declares}
        more = {s.title for s in available if s.wanted_by & wanted} - taken
        if not more:
            break
        taken |= more
    if not taken:
        return None
    parts = [f"// --- {s.title} ---\n{s.text}" for s in available if s.title in taken]
    return head + "".join(parts)
