"""The closed list of outcomes and reasons."""

from __future__ import annotations

from cass_pipeline.outcomes import EVIDENCE_CHARS, REASONS, Outcome, Reason, Verdict


def test_every_reason_has_an_outcome_and_one_sentence_for_people() -> None:
    assert set(REASONS) == set(Reason)
    for reason in Reason:
        assert reason.outcome is not Outcome.KEPT
        assert reason.explanation.endswith(".")
        assert len(reason.explanation) < 100


def test_a_verdict_takes_its_outcome_from_its_reason() -> None:
    assert Verdict.because(Reason.EMPTY).outcome is Outcome.FILTERED
    assert Verdict.because(Reason.STALLED).outcome is Outcome.FAILED
    assert Verdict.kept() == Verdict(Outcome.KEPT)


def test_evidence_is_bounded_and_storable() -> None:
    verdict = Verdict.because(Reason.COMPILE_ERROR, "\0" + "x" * 10 * EVIDENCE_CHARS)
    assert len(verdict.evidence) == EVIDENCE_CHARS
    assert "\0" not in verdict.evidence
