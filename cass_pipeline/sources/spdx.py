"""SPDX licence expressions: read, joined, and judged by a list of permitted licences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

LONGEST = 400
"""Characters; a longer tag is an attempt at something else, and parsing takes time."""


@dataclass(frozen=True)
class Licence:
    """Terms of a file or a unit."""

    expression: str | None
    """SPDX expression, or None where the terms are unknown."""
    evidence: tuple[str, ...]
    """One line for each file or tag that it was read from."""

    @classmethod
    def all_of(cls, licences: Sequence[Licence]) -> Licence:
        """The terms of each of `licences` at once; unknown if one is unknown."""
        evidence = tuple(dict.fromkeys(line for one in licences for line in one.evidence))
        known = {one.expression for one in licences if one.expression}
        if not known or any(one.expression is None for one in licences):
            return cls(None, evidence)
        if len(known) == 1:
            return cls(known.pop(), evidence)
        operands = {operand for expression in known for operand in _operands(expression)}
        return cls(" AND ".join(sorted(operands)), evidence)


def normalised(expression: str) -> str | None:
    """`expression` with current SPDX names, or None if it is not an SPDX expression.

    `LicenseRef-` names are SPDX, though only their author knows what they mean.
    """
    if len(expression) > LONGEST:
        return None
    parsed = _parsed(expression.strip())
    if parsed is None or not all(_is_known(symbol) for symbol in parsed.symbols):
        return None
    return str(parsed.render("{symbol.key}"))


def is_permitted(expression: str, permitted: Collection[str]) -> bool:
    """Whether the licence can be used under the `permitted` ones alone.

    Each part of an AND must be permitted, and one part of an OR. A licence WITH an exception is
    permitted only if it is listed so.
    """
    parsed = _parsed(expression)
    return parsed is not None and _holds(parsed, frozenset(permitted))


def _operands(expression: str) -> list[str]:
    """What `expression` joins with AND, as far as that shows without parsing."""
    if " OR " in expression:
        return [f"({expression})"]
    return [expression] if "(" in expression else expression.split(" AND ")


def _holds(node: Any, permitted: frozenset[str]) -> bool:
    operator = getattr(node, "operator", None)
    if operator is None:
        return node.render("{symbol.key}") in permitted
    parts = (_holds(part, permitted) for part in node.args)
    return all(parts) if operator.strip() == "AND" else any(parts)


def _is_known(symbol: Any) -> bool:
    if (base := getattr(symbol, "license_symbol", None)) is not None:
        return _is_known(base) and symbol.exception_symbol.key in _licensing().known_symbols
    return symbol.key in _licensing().known_symbols or symbol.key.startswith("LicenseRef-")


def _parsed(expression: str) -> Any | None:
    from license_expression import ExpressionError, ExpressionParseError  # type: ignore[import-untyped]

    try:
        return _licensing().parse(expression)
    except (ExpressionError, ExpressionParseError, RecursionError):
        return None


@cache
def _licensing() -> Any:
    # The index of 3000 names takes 70 ms to load, which an import should not.
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()
