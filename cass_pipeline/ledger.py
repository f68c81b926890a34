"""The stage ledger: where every collected file went, and proof that no row was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from cass_pipeline.outcomes import Outcome, Reason
from cass_pipeline.records import (
    COLLECTED,
    CORPUS,
    CUDA_OBJECTS,
    DISTINCT_PAIRS,
    EXECUTIONS,
    HIP_KERNELS,
    HIP_OBJECTS,
    ORIGIN,
    TRAINING_SET,
    VERIFIED_PAIRS,
    Row,
)
from cass_pipeline.stage import Effort, StageReport, report_of
from cass_pipeline.stages.training_set import candidates_of
from cass_pipeline.store import CorpusStore, Table


@dataclass(frozen=True)
class StageFacts:
    """A stage as the ledger needs it."""

    schema: pa.Schema
    inputs: tuple[str, ...] = ()
    """Stages whose kept rows this one decides about; none for a stage that collects."""
    given: Callable[[CorpusStore], int] | None = None
    """Counts what the stage decides about, where it is not its inputs' kept rows."""


STAGES: dict[str, StageFacts] = {
    "local_kernels": StageFacts(COLLECTED),
    "repository_kernels": StageFacts(COLLECTED),
    "sdist_kernels": StageFacts(COLLECTED),
    "stack_kernels": StageFacts(COLLECTED),
    "raw_kernels": StageFacts(
        COLLECTED, ("local_kernels", "repository_kernels", "sdist_kernels", "stack_kernels")
    ),
    "hip_kernels": StageFacts(HIP_KERNELS, ("raw_kernels",)),
    "cuda_objects": StageFacts(CUDA_OBJECTS, ("hip_kernels",)),
    "hip_objects": StageFacts(HIP_OBJECTS, ("hip_kernels",)),
    "executions": StageFacts(EXECUTIONS, ("hip_kernels",)),
    "verified_pairs": StageFacts(VERIFIED_PAIRS, ("executions",)),
    "distinct_pairs": StageFacts(DISTINCT_PAIRS, ("verified_pairs",)),
    "corpus": StageFacts(CORPUS, ("distinct_pairs",)),
    "training_set": StageFacts(TRAINING_SET, ("corpus",), candidates_of),
}
"""The chain, in order."""

_AFTER_SELECTION = (
    "hip_kernels",
    "cuda_objects",
    "hip_objects",
    "executions",
    "verified_pairs",
    "distinct_pairs",
    "corpus",
)


@dataclass(frozen=True)
class SourceYield:
    """What became of the files of one source."""

    source: str
    name: str
    files: int
    selected: int
    """Of them, units that `raw_kernels` kept: a kernel, a permitted licence, no duplicate."""
    missing_header: int
    """Of those, files that need a header which is not installed."""
    pairs: int
    """Of those, files that compile on both sides."""
    published: int
    """Of those, files that are in the corpus after deduplication."""


@dataclass(frozen=True)
class Ledger:
    """The state of every stage's table."""

    stages: tuple[StageReport, ...]
    fates: tuple[Row, ...]
    """Rows of `records.FATES`."""
    sources: tuple[SourceYield, ...]

    @property
    def lost(self) -> tuple[str, ...]:
        """Stages whose rows do not add up to the rows they were given."""
        return tuple(stage.stage for stage in self.stages if not stage.adds_up)


def read_ledger(store: CorpusStore) -> Ledger:
    """Counts every stage's rows and follows every collected file to its last stage."""
    tables = {name: store.table(name, facts.schema) for name, facts in STAGES.items()}
    counted: dict[str, StageReport] = {}
    for name, facts in STAGES.items():
        if facts.given:
            rows_in = facts.given(store)
        elif facts.inputs:
            rows_in = sum(counted[source].kept for source in facts.inputs)
        else:
            rows_in = tables[name].row_count()
        counted[name] = report_of(tables[name], rows_in, Effort(0, 0, 0.0))
    fates = tuple(_fates(tables))
    return Ledger(tuple(counted.values()), fates, tuple(_yields(fates)))


def _fates(tables: dict[str, Table]) -> list[Row]:
    """One row for every collected file: the first stage that did not keep it, or the last one."""
    verdict = ["outcome", "reason", "evidence"]
    selected = {
        row["origin_id"]: row
        for row in tables["raw_kernels"].read(["origin_id", "key", "unit_id", *verdict]).to_pylist()
    }
    later = {
        name: {
            row["unit_id"]: row
            for row in tables[name].read(["unit_id", "key", *verdict]).to_pylist()
        }
        for name in _AFTER_SELECTION
    }
    columns = ["key", "unit_id", *ORIGIN.names, "kernel_count", *verdict]
    fates: list[Row] = []
    for name, facts in STAGES.items():
        if facts.inputs:
            continue
        for row in tables[name].read(columns).to_pylist():
            stage, last = _last_stage(name, row, selected, later)
            fates.append(row | {key: last[key] for key in verdict} | {"last_stage": stage})
    return sorted(fates, key=lambda row: (row["source"], row["source_name"], row["source_path"]))


def _last_stage(
    stage: str, row: Row, selected: dict[str, Row], later: dict[str, dict[str, Row]]
) -> tuple[str, Row]:
    if row["outcome"] != Outcome.KEPT.value or row["origin_id"] not in selected:
        return stage, row
    stage, row = "raw_kernels", selected[row["origin_id"]]
    for name in _AFTER_SELECTION:
        if row["outcome"] != Outcome.KEPT.value or row["unit_id"] not in later[name]:
            break
        stage, row = name, later[name][row["unit_id"]]
    return stage, row


_NOT_SELECTED = frozenset({"raw_kernels", *STAGES["raw_kernels"].inputs})
_PAIRED = frozenset({"verified_pairs", "distinct_pairs", "corpus"})


def _yields(fates: tuple[Row, ...]) -> list[SourceYield]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in fates:
        count = counts.setdefault((row["source"], row["source_name"]), Counter())
        count["files"] += 1
        count["selected"] += row["last_stage"] not in _NOT_SELECTED
        count["missing_header"] += row["reason"] == Reason.MISSING_HEADER.value
        count["pairs"] += row["last_stage"] in _PAIRED
        in_corpus = row["last_stage"] == "corpus" and row["outcome"] == Outcome.KEPT.value
        count["published"] += in_corpus
    return [
        SourceYield(
            source,
            name,
            files=count["files"],
            selected=count["selected"],
            missing_header=count["missing_header"],
            pairs=count["pairs"],
            published=count["published"],
        )
        for (source, name), count in sorted(counts.items())
    ]
