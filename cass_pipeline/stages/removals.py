"""Why pairs of the last release are not in this one, read from the stages' tables."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cass_pipeline.outcomes import Outcome, Reason
from cass_pipeline.records import BASE, OPT_OUTS, Row
from cass_pipeline.store import CorpusStore

_CHAIN = (
    "raw_kernels",
    "hip_kernels",
    "cuda_objects",
    "hip_objects",
    "executions",
    "verified_pairs",
    "distinct_pairs",
)
_ORIGIN = ("source", "source_name", "source_path")


def explain(store: CorpusStore, removed: Sequence[Row], added: Sequence[Row]) -> dict[str, str]:
    """The reason of each removal by `pair_id`, in words for people.

    Args:
        store: as it is after the run that makes the new release.
        removed: rows of the pair index that the new release has not.
        added: rows of the pair index that only the new release has.
    """
    units = {row["unit_id"] for row in removed}
    opted_out = _opt_outs(store)
    stopped = _stopped(store, units)
    again = {row["unit_id"] for row in added}
    replaced = {tuple(row[name] for name in _ORIGIN) for row in added}

    def reason(row: Row) -> str:
        unit_id = row["unit_id"]
        if unit_id in opted_out:
            return f"opted out, asked for on {opted_out[unit_id]}"
        if unit_id in again:
            return "replaced: the same CUDA, translated anew"
        if unit_id in stopped:
            return f"{stopped[unit_id].value}: {stopped[unit_id].explanation}"
        if tuple(row[name] for name in _ORIGIN) in replaced:
            return "replaced: the file changed in its source"
        return "gone from its source, or its source is not collected any more"

    return {row["pair_id"]: reason(row) for row in removed}


def _opt_outs(store: CorpusStore) -> dict[str, str]:
    """Days of the requests by unit."""
    rows = store.table("opt_outs", OPT_OUTS).read(["unit_id", "date"]).to_pylist()
    return {row["unit_id"]: row["date"].isoformat() for row in rows}


def _stopped(store: CorpusStore, units: set[str]) -> dict[str, Reason]:
    """Where the chain ends for a unit: the reason of its first stage that kept no row of it."""
    found: dict[str, Reason] = {}
    wanted = pa.array(sorted(units), pa.string())
    for name in _CHAIN:
        table = store.table(name, BASE).read(["unit_id", "outcome", "reason"])
        rows = table.filter(pc.is_in(table["unit_id"], wanted)).to_pylist()
        kept = {row["unit_id"] for row in rows if row["outcome"] == Outcome.KEPT.value}
        for row in rows:
            if row["unit_id"] not in kept:
                found.setdefault(row["unit_id"], Reason(row["reason"]))
    return found
