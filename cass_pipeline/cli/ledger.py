"""`cass ledger`: where every collected file went."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from cass_pipeline.cli.options import Home, Json, open_console, print_json


def show(home: Home = Path("var"), json: Json = False) -> None:
    """Show the funnel of the last run: rows in = kept + filtered + failed, for every stage."""
    from cass_pipeline.errors import InputError
    from cass_pipeline.ledger import read_ledger
    from cass_pipeline.ledger_report import terminal
    from cass_pipeline.store import CorpusStore

    if not (home / "tables").is_dir():
        raise InputError(
            f"{home.absolute()} holds no tables yet; run `make demo`, or name the right folder "
            "with --home"
        )
    ledger = read_ledger(CorpusStore(home))
    if json:
        print_json(
            {
                "stages": [asdict(stage) for stage in ledger.stages],
                "sources": [asdict(source) for source in ledger.sources],
                "lost": list(ledger.lost),
                "files": list(ledger.fates),
            }
        )
        return
    console = open_console()
    for renderable in terminal(ledger):
        console.print(renderable)
