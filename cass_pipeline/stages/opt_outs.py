"""`opt_outs`: units taken out because somebody asked, and the tombstones that say so.

A tombstone holds ids and a day, never content. It stays when the source is no longer listed, and
goes when the request is withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cass_pipeline.errors import InputError
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.records import (
    COLLECTED,
    CONTENT,
    CORPUS,
    OPT_OUTS,
    ORIGIN,
    Row,
    verdict_columns,
)
from cass_pipeline.sources.opt_outs import OptOut, OptOuts
from cass_pipeline.stage import Log
from cass_pipeline.store import CorpusStore, Table
from cass_pipeline.units import digest_of

_NAMING = ["origin_id", "unit_id", "source_name", "source_path", "source_files"]
_SMALL = ["key", "outcome", "reason", "evidence", "unit_id", "source_files", *ORIGIN.names]


@dataclass(frozen=True)
class Removal:
    """A unit that a request takes out."""

    unit_id: str
    origin_id: str
    entry: OptOut


def without_content(row: Row, entry: OptOut) -> Row:
    """A row of `COLLECTED` as it stays after a request: what names it, and why it is empty."""
    verdict = Verdict.because(Reason.OPTED_OUT, entry.evidence)
    return row | dict.fromkeys(CONTENT) | verdict_columns(verdict)


def honour(store: CorpusStore, table: Table, opt_outs: OptOuts, log: Log) -> None:
    """Takes opted-out content out of a table of `COLLECTED`, whenever it was collected.

    Every collecting stage calls this before and after it brings its table up to date. Rows of a
    request that was withdrawn become failed ones, so that their source is read again.
    """
    changed: dict[str, Row] = {}
    removals: list[Removal] = []
    for row in _in_question(table, opt_outs):
        entry = opt_outs.of_row(row)
        if entry is not None:
            removals.append(Removal(row["unit_id"], row["origin_id"], entry))
            new = without_content(row, entry)
        elif row["reason"] == Reason.OPTED_OUT.value:
            new = row | verdict_columns(Verdict.because(Reason.OPT_OUT_WITHDRAWN))
        else:
            continue
        if any(new[name] != row[name] for name in row):
            changed[row["origin_id"]] = new
    # Tombstones first: a kill between the two must not lose what was removed.
    record(store, removals, opt_outs, log)
    if changed:
        with table.lock(on_wait=log):
            table.amend(changed, by="origin_id")
        log(f"{table.name}: {len(changed)} rows changed by opt-outs, {len(removals)} opted out")


def record(
    store: CorpusStore, removals: Iterable[Removal], opt_outs: OptOuts, log: Log
) -> list[Row]:
    """Adds tombstones, drops those of withdrawn requests, and returns all there are."""
    table = store.table("opt_outs", OPT_OUTS)
    with table.lock(on_wait=log):
        before = {row["key"]: row for row in table.rows()}
        current = opt_outs.entry_ids
        after = {key: row for key, row in before.items() if row["entry_id"] in current}
        for removal in removals:
            tombstone = _tombstone(removal)
            after.setdefault(tombstone["key"], tombstone)
        rows = [after[key] for key in sorted(after)]
        if before.keys() != after.keys():
            table.replace(rows, digest_of("opt_outs", *after))
    return rows


def opted_out_units(store: CorpusStore, opt_outs: OptOuts) -> dict[str, Removal]:
    """Selected units that are opted out by now, by `unit_id`: what a release must not hold."""
    if not opt_outs.entries:
        return {}
    selected = store.table("raw_kernels", COLLECTED).rows(_NAMING, kept_only=True)
    found = ((row, opt_outs.of_row(row)) for row in selected)
    return {
        row["unit_id"]: Removal(row["unit_id"], row["origin_id"], entry)
        for row, entry in found
        if entry is not None
    }


def refuse_opted_out(store: CorpusStore, opt_outs: OptOuts) -> None:
    """Lets nothing be released that was opted out since the corpus was made.

    Raises:
        InputError: the corpus holds such a unit.
    """
    removed = opted_out_units(store, opt_outs)
    published = store.table("corpus", CORPUS).kept(["unit_id"])["unit_id"].to_pylist()
    if stale := [unit_id for unit_id in published if unit_id in removed]:
        raise InputError(
            f"the corpus holds {len(stale)} units that were opted out since it was made, such as "
            f"{stale[0]}: materialize `corpus` again, then `hub_dataset`"
        )


def _in_question(table: Table, opt_outs: OptOuts) -> Iterable[Row]:
    """Rows that may have to change; without requests, hardly anything is read."""
    if not opt_outs.entries:
        reasons = table.read(["reason"])["reason"].to_pylist()
        if Reason.OPTED_OUT.value not in reasons:
            return ()
    return table.rows(_SMALL)


def _tombstone(removal: Removal) -> dict[str, Any]:
    entry = removal.entry
    return {
        "key": digest_of("opt_outs", entry.entry_id, removal.unit_id, removal.origin_id),
        "unit_id": removal.unit_id,
        **verdict_columns(Verdict.because(Reason.OPTED_OUT)),
        "origin_id": removal.origin_id,
        "entry_id": entry.entry_id,
        "kind": entry.kind,
        "date": entry.date,
    }
