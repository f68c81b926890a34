"""The thresholds, in their order."""

from __future__ import annotations

import pytest

from cass_pipeline.outcomes import Outcome, Reason
from cass_pipeline.sources.select import CHECKS, PERMISSIVE, Selection, judge
from cass_pipeline.sources.spdx import normalised
from cass_pipeline.units import Origin, SourceTree, Unit, UnitTags


def unit(
    *, kernels: int = 1, lines: int = 50, generated: bool = False, licence: str | None = "MIT"
) -> Unit:
    origin = Origin("local", "x", "", "a.cu", licence, ("LICENSE: evidence",))
    tags = UnitTags(kernels=kernels, code_lines=lines, generated=generated)
    return Unit(SourceTree({"a.cu": "int x;"}, "a.cu"), origin, tags)


def test_a_plain_unit_is_kept() -> None:
    assert judge(unit(), Selection()).outcome is Outcome.KEPT


@pytest.mark.parametrize(
    ("rejected", "selection", "reason"),
    [
        (unit(kernels=0), Selection(), Reason.NO_KERNEL),
        (unit(kernels=2), Selection(min_kernels=3), Reason.NO_KERNEL),
        (unit(lines=4), Selection(), Reason.TOO_SHORT),
        (unit(lines=51), Selection(max_code_lines=50), Reason.TOO_LONG),
        (unit(generated=True), Selection(), Reason.GENERATED),
        (unit(licence=None), Selection(), Reason.LICENCE_UNKNOWN),
        (unit(licence="GPL-3.0-only"), Selection(), Reason.LICENCE_NOT_PERMITTED),
        (unit(), Selection(permitted_licences=("ISC",)), Reason.LICENCE_NOT_PERMITTED),
    ],
)
def test_each_threshold_has_its_reason(
    rejected: Unit, selection: Selection, reason: Reason
) -> None:
    verdict = judge(rejected, selection)
    assert (verdict.reason, verdict.outcome) == (reason, Outcome.FILTERED)
    assert verdict.evidence


def test_thresholds_can_be_waived() -> None:
    waived = Selection(0, 10**9, 0, drop_generated=False, allow_unknown_licence=True)
    assert judge(unit(kernels=0, lines=0, generated=True, licence=None), waived).reason is None


def test_the_first_check_in_the_stated_order_decides() -> None:
    everything_wrong = unit(kernels=0, lines=0, generated=True, licence=None)
    assert judge(everything_wrong, Selection()).reason is CHECKS[0][0]


def test_the_default_licences_are_spdx() -> None:
    assert [normalised(name) for name in PERMISSIVE] == list(PERMISSIVE)
