"""`raw_kernels`: the units of all sources that the selection takes, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cass_pipeline.fanout import SerialFanout
from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.records import COLLECTED, Row, origin_of, tags_of, verdict_columns
from cass_pipeline.sources.select import Selection, judge_tags
from cass_pipeline.stage import Log, StageReport, Work, run_stage
from cass_pipeline.store import CorpusStore
from cass_pipeline.units import digest_of

SOURCES = ("local_kernels", "repository_kernels", "sdist_kernels")
"""Tables of the collecting stages; of equal units, the one of the first table is kept."""
BATCH_SIZE = 512
_SMALL = [
    name
    for name in COLLECTED.names
    if name not in {"key", "outcome", "reason", "evidence", "files"}
]


@dataclass(frozen=True)
class _Candidate:
    """A collected unit without its text."""

    origin_id: str
    unit_id: str
    rank: tuple[int, str, str]
    verdict: Verdict
    terms: str
    """Revision, licence and tags: they are published too, so a change of them is a new row."""

    @property
    def key(self) -> str:
        """Addresses the decision: another verdict is another row."""
        reason = self.verdict.reason or ""
        evidence = self.verdict.evidence
        return digest_of("raw_kernels", self.origin_id, self.unit_id, reason, evidence, self.terms)


def update(store: CorpusStore, selection: Selection, log: Log) -> StageReport:
    """Applies the selection to every collected unit, and keeps one of equal units.

    Among equal units a permitted one is preferred, then the order of `SOURCES`, name and path.
    """
    candidates = {item.origin_id: item for item in _judged(store, selection)}

    def load(todo: set[str]) -> Iterator[Work]:
        for source in SOURCES:
            for row in store.table(source, COLLECTED).rows(kept_only=True):
                item = candidates[row["origin_id"]]
                if item.key in todo and item.unit_id == row["unit_id"]:
                    yield Work(item.key, item.unit_id, row | verdict_columns(item.verdict))

    return run_stage(
        store.table("raw_kernels", COLLECTED),
        [item.key for item in candidates.values()],
        load,
        _decided,
        SerialFanout(),
        batch_size=BATCH_SIZE,
        log=log,
    )


def _judged(store: CorpusStore, selection: Selection) -> Iterator[_Candidate]:
    chosen: dict[str, str] = {}
    for item in sorted(_candidates(store, selection), key=lambda item: item.rank):
        first = chosen.setdefault(item.unit_id, item.origin_id)
        if item.verdict.outcome is Outcome.KEPT and first != item.origin_id:
            evidence = f"equal to the unit of origin {first[:16]}"
            yield replace(item, verdict=Verdict.because(Reason.DUPLICATE_UNIT, evidence))
        else:
            yield item


def _candidates(store: CorpusStore, selection: Selection) -> Iterator[_Candidate]:
    for place, source in enumerate(SOURCES):
        for row in store.table(source, COLLECTED).kept(_SMALL).to_pylist():
            verdict = judge_tags(origin_of(row), tags_of(row), selection)
            refused = verdict.outcome is not Outcome.KEPT
            rank = (int(refused), f"{place}{row['source_name']}", row["source_path"])
            terms = repr((origin_of(row), tags_of(row)))
            yield _Candidate(row["origin_id"], row["unit_id"], rank, verdict, terms)


def _decided(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in {"key", "unit_id"}}
