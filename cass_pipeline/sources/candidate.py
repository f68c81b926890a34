"""What a source yields: one `.cu` file, or one source that could not be used."""

from __future__ import annotations

from dataclasses import dataclass

from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.units import Origin, Unit


class RejectedError(Exception):
    """The file or the source does not become units, for the reason in `verdict`."""

    def __init__(self, reason: Reason, evidence: str) -> None:
        super().__init__(f"{reason}: {evidence}")
        self.reason = reason
        self.verdict = Verdict.because(reason, evidence)


@dataclass(frozen=True)
class Candidate:
    """A `.cu` file with its verdict; `unit` is there exactly when the verdict is kept.

    An empty `origin.path` stands for the source as a whole (it could not be fetched, or holds
    no CUDA).
    """

    origin: Origin
    verdict: Verdict
    unit: Unit | None = None

    def __post_init__(self) -> None:
        if (self.unit is not None) != (self.verdict.outcome is Outcome.KEPT):
            raise ValueError(f"{self.origin.path!r}: a unit goes with a kept verdict, and only so")

    @classmethod
    def kept(cls, unit: Unit) -> Candidate:
        """The file became `unit`."""
        return cls(unit.origin, Verdict.kept(), unit)

    @classmethod
    def because(cls, origin: Origin, reason: Reason, evidence: str = "") -> Candidate:
        """The file or source at `origin` stops here."""
        return cls(origin, Verdict.because(reason, evidence))
