"""`raw_kernels`: the units of all sources that the selection takes, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cass_pipeline.fanout import SerialFanout
from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.records import COLLECTED, Row, origin_of, tags_of, verdict_columns
from cass_pipeline.sources.opt_outs import OptOut, OptOuts
from cass_pipeline.sources.select import Selection, judge_tags
from cass_pipeline.stage import Log, StageReport, Work, run_stage
from cass_pipeline.stages.opt_outs import Removal, record, without_content
from cass_pipeline.store import CorpusStore
from cass_pipeline.units import digest_of

SOURCES = ("local_kernels", "repository_kernels", "sdist_kernels", "stack_kernels")
"""Tables of the collecting stages; of equal units, the one of the first table is kept."""
BATCH_SIZE = 512
_NO_OPT_OUTS = OptOuts()
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
    entry: OptOut | None
    """The request that takes it out."""

    @property
    def key(self) -> str:
        """Addresses the decision: another verdict is another row."""
        reason = self.verdict.reason or ""
        evidence = self.verdict.evidence
        return digest_of("raw_kernels", self.origin_id, self.unit_id, reason, evidence, self.terms)


def update(
    store: CorpusStore, selection: Selection, log: Log, opt_outs: OptOuts = _NO_OPT_OUTS
) -> StageReport:
    """Applies the selection to every collected unit, and keeps one of equal units.

    What is opted out goes no further, even where its source's own stage did not run since. Among
    equal units a permitted one is preferred, then the order of `SOURCES`, name and path.
    """
    candidates = {item.origin_id: item for item in _judged(store, selection, opt_outs)}

    def load(todo: set[str]) -> Iterator[Work]:
        for source in SOURCES:
            for row in store.table(source, COLLECTED).rows(kept_only=True):
                item = candidates[row["origin_id"]]
                if item.key in todo and item.unit_id == row["unit_id"]:
                    yield Work(item.key, item.unit_id, _with_verdict(row, item))

    removals = [
        Removal(item.unit_id, item.origin_id, item.entry)
        for item in candidates.values()
        if item.entry
    ]
    record(store, removals, opt_outs, log)
    return run_stage(
        store.table("raw_kernels", COLLECTED),
        [item.key for item in candidates.values()],
        load,
        _decided,
        SerialFanout(),
        batch_size=BATCH_SIZE,
        log=log,
    )


def _judged(store: CorpusStore, selection: Selection, opt_outs: OptOuts) -> Iterator[_Candidate]:
    chosen: dict[str, str] = {}
    for item in sorted(_candidates(store, selection, opt_outs), key=lambda item: item.rank):
        first = chosen.setdefault(item.unit_id, item.origin_id)
        if item.verdict.outcome is Outcome.KEPT and first != item.origin_id:
            evidence = f"equal to the unit of origin {first[:16]}"
            yield replace(item, verdict=Verdict.because(Reason.DUPLICATE_UNIT, evidence))
        else:
            yield item


def _candidates(
    store: CorpusStore, selection: Selection, opt_outs: OptOuts
) -> Iterator[_Candidate]:
    for place, source in enumerate(SOURCES):
        for row in store.table(source, COLLECTED).kept(_SMALL).to_pylist():
            entry = opt_outs.of_row(row)
            verdict = (
                Verdict.because(Reason.OPTED_OUT, entry.evidence)
                if entry
                else judge_tags(origin_of(row), tags_of(row), selection)
            )
            refused = verdict.outcome is not Outcome.KEPT
            rank = (int(refused), f"{place}{row['source_name']}", row["source_path"])
            terms = repr((origin_of(row), tags_of(row)))
            yield _Candidate(row["origin_id"], row["unit_id"], rank, verdict, terms, entry)


def _with_verdict(row: Row, item: _Candidate) -> Row:
    decided = row | verdict_columns(item.verdict)
    return without_content(decided, item.entry) if item.entry else decided


def _decided(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in {"key", "unit_id"}}
