"""How far a pair was verified: a closed, ordered list."""

from __future__ import annotations

from cass_pipeline.errors import InputError

LEVELS: dict[str, str] = {
    "compiled": "Both sides compiled. Nothing is known about what they compute.",
    "executed": "Both sides ran on the same inputs, but their results could not be compared.",
    "matched": "Both sides ran on the same inputs, and their results agreed within the tolerance.",
}
"""Explanation by level, weakest first."""


def rank(level: str | None) -> int:
    """Place of a level in `LEVELS`; higher is better verified.

    Raises:
        InputError: the level does not exist.
    """
    if level not in LEVELS:
        raise InputError(f"{level!r} is not a verification level; those are {', '.join(LEVELS)}")
    return list(LEVELS).index(level)
