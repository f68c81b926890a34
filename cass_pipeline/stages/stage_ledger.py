"""`stage_ledger`: the fate of every collected file, and whether every stage adds up."""

from __future__ import annotations

from pathlib import Path

from cass_pipeline.ledger import Ledger, read_ledger
from cass_pipeline.ledger_report import funnel_png
from cass_pipeline.records import FATES
from cass_pipeline.stage import Log
from cass_pipeline.store import CorpusStore, write_atomically


def update(store: CorpusStore, log: Log) -> Ledger:
    """Writes the fates as a table, and the funnel as a picture."""
    ledger = read_ledger(store)
    table = store.table("stage_ledger", FATES)
    with table.lock(on_wait=log):
        names = FATES.names
        table.replace(
            (
                # A source's files share its key; here each file is a row of its own.
                {name: row[name] for name in names} | {"key": row["origin_id"]}
                for row in ledger.fates
            ),
            "",
        )
    write_atomically(picture(store), funnel_png(ledger))
    return ledger


def picture(store: CorpusStore) -> Path:
    """Where the picture of the funnel is."""
    return store.root / "reports" / "stage_ledger.png"
