"""`executions`: which units have both sides, and what running them showed.

No device of this package executes both sides yet, so a pair whose sides compile gets the level
`compiled`. A level above that is given only to what was run.
"""

from __future__ import annotations

from collections.abc import Iterator

from cass_pipeline.fanout import SerialFanout
from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.records import (
    CUDA_OBJECTS,
    EXECUTIONS,
    HIP_KERNELS,
    HIP_OBJECTS,
    Row,
    verdict_columns,
)
from cass_pipeline.stage import Log, StageReport, Work, run_stage
from cass_pipeline.store import CorpusStore, Table
from cass_pipeline.units import digest_of

BATCH_SIZE = 4_096
"""Rows are small while nothing is executed."""


def update(store: CorpusStore, log: Log) -> StageReport:
    """Decides for every translated unit whether there is a pair, and at which level."""
    sides = {
        "cuda": _results(store.table("cuda_objects", CUDA_OBJECTS)),
        "hip": _results(store.table("hip_objects", HIP_OBJECTS)),
    }
    unit_ids = store.table("hip_kernels", HIP_KERNELS).kept(["unit_id"])["unit_id"].to_pylist()
    work: dict[str, Work] = {}
    for unit_id in unit_ids:
        cuda, hip = sides["cuda"].get(unit_id), sides["hip"].get(unit_id)
        key = digest_of("executions", unit_id, *(_identity(side) for side in (cuda, hip)))
        work[key] = Work(key, unit_id, {"cuda": cuda, "hip": hip})

    def load(todo: set[str]) -> Iterator[Work]:
        return (work[key] for key in work if key in todo)

    return run_stage(
        store.table("executions", EXECUTIONS),
        list(work),
        load,
        pair_level,
        SerialFanout(),
        batch_size=BATCH_SIZE,
        log=log,
    )


def pair_level(row: Row) -> Row:
    """The verdict and level of one unit, from the results of its two sides."""
    for side, reason in (("cuda", Reason.CUDA_NOT_COMPILED), ("hip", Reason.HIP_NOT_COMPILED)):
        result = row[side]
        if result is None or result["outcome"] != Outcome.KEPT.value:
            evidence = (result or {}).get("reason") or "not tried"
            return verdict_columns(Verdict.because(reason, evidence))
    return {
        **verdict_columns(Verdict.kept()),
        "cuda_key": row["cuda"]["key"],
        "hip_key": row["hip"]["key"],
        "verification": {"level": "compiled"},
    }


def _results(table: Table) -> dict[str, Row]:
    rows = table.read(["unit_id", "key", "outcome", "reason"]).to_pylist()
    return {row["unit_id"]: row for row in rows}


def _identity(result: Row | None) -> str:
    return "" if result is None else f"{result['key']} {result['outcome']} {result['reason']}"
