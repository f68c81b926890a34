"""Which units go on: thresholds over tags, applied last, so that changing one collects nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.sources.spdx import is_permitted
from cass_pipeline.units import Origin, Unit, UnitTags

PERMISSIVE = (
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "NCSA",
    "Unlicense",
    "Zlib",
)
"""Licences that let translated code be published under the same terms, with attribution."""


@dataclass(frozen=True)
class Selection:
    """The thresholds."""

    min_code_lines: int = 5
    max_code_lines: int = 10_000
    min_kernels: int = 1
    drop_generated: bool = True
    permitted_licences: tuple[str, ...] = PERMISSIVE
    """SPDX names; of an OR one part has to be listed, of an AND each part."""
    allow_unknown_licence: bool = False


def judge(unit: Unit, selection: Selection) -> Verdict:
    """Kept, or the first of `CHECKS` that speaks against the unit."""
    return judge_tags(unit.origin, unit.tags, selection)


def judge_tags(origin: Origin, tags: UnitTags, selection: Selection) -> Verdict:
    """`judge` for whoever has not read the unit's text."""
    for reason, check in CHECKS:
        if (evidence := check(origin, tags, selection)) is not None:
            return Verdict.because(reason, evidence)
    return Verdict.kept()


def _no_kernel(origin: Origin, tags: UnitTags, selection: Selection) -> str | None:
    kernels = tags.kernels
    return f"{kernels} kernels" if kernels < selection.min_kernels else None


def _too_short(origin: Origin, tags: UnitTags, selection: Selection) -> str | None:
    lines = tags.code_lines
    return f"{lines} code lines" if lines < selection.min_code_lines else None


def _too_long(origin: Origin, tags: UnitTags, selection: Selection) -> str | None:
    lines = tags.code_lines
    return f"{lines} code lines" if lines > selection.max_code_lines else None


def _generated(origin: Origin, tags: UnitTags, selection: Selection) -> str | None:
    return origin.path if selection.drop_generated and tags.generated else None


def _licence_unknown(origin: Origin, tags: UnitTags, selection: Selection) -> str | None:
    if origin.licence is not None or selection.allow_unknown_licence:
        return None
    return "; ".join(origin.licence_evidence)


def _licence_not_permitted(origin: Origin, tags: UnitTags, selection: Selection) -> str | None:
    licence = origin.licence
    if licence is None or is_permitted(licence, selection.permitted_licences):
        return None
    return "; ".join((licence, *origin.licence_evidence))


Check = Callable[[Origin, UnitTags, Selection], str | None]

CHECKS: tuple[tuple[Reason, Check], ...] = (
    (Reason.NO_KERNEL, _no_kernel),
    (Reason.TOO_SHORT, _too_short),
    (Reason.TOO_LONG, _too_long),
    (Reason.GENERATED, _generated),
    (Reason.LICENCE_UNKNOWN, _licence_unknown),
    (Reason.LICENCE_NOT_PERMITTED, _licence_not_permitted),
)
"""The checks in their order, each giving evidence against the unit or None."""
