"""The stage ledger for people: text for the terminal, Markdown and a picture for the UI."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from cass_pipeline.ledger import Ledger
from cass_pipeline.outcomes import Outcome, Reason

if TYPE_CHECKING:
    from rich.console import RenderableType

_COLOURS = {Outcome.KEPT: "#2a9d8f", Outcome.FILTERED: "#e9c46a", Outcome.FAILED: "#e76f51"}


def funnel_table(ledger: Ledger) -> list[list[str]]:
    """The funnel with a header row: a line for each stage."""
    header = ["stage", "in", *(outcome.value for outcome in Outcome), "most frequent reasons"]
    rows = [header]
    for stage in ledger.stages:
        reasons = ", ".join(f"{name} {count}" for name, count in list(stage.reasons.items())[:4])
        counts = (str(stage.outcomes.get(outcome.value, 0)) for outcome in Outcome)
        rows.append([stage.stage, str(stage.rows_in), *counts, reasons])
    return rows


def source_table(ledger: Ledger) -> list[list[str]]:
    """What became of each source's files, with a header row.

    The yield is the share of pairs among selected units that need no header which is missing.
    """
    rows = [
        ["source", "name", "files", "selected", "missing header", "pairs", "yield", "published"]
    ]
    for source in ledger.sources:
        possible = source.selected - source.missing_header
        rows.append(
            [
                source.source,
                source.name,
                str(source.files),
                str(source.selected),
                str(source.missing_header),
                str(source.pairs),
                f"{source.pairs / possible:.0%}" if possible else "-",
                str(source.published),
            ]
        )
    return rows


def reason_table(ledger: Ledger) -> list[list[str]]:
    """Every reason that occurred, by stage, with a header row."""
    rows = [["stage", "reason", "rows", "explanation"]]
    for stage in ledger.stages:
        for reason, count in stage.reasons.items():
            rows.append([stage.stage, reason, str(count), Reason(reason).explanation])
    return rows


def markdown(rows: list[list[str]]) -> str:
    """A table with a header row as Markdown."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def terminal(ledger: Ledger) -> list[RenderableType]:
    """What `cass ledger` prints."""
    from rich.text import Text

    balance = (
        Text(f"Rows do not add up in: {', '.join(ledger.lost)}", style="bold red")
        if ledger.lost
        else Text("Every row is accounted for: in = kept + filtered + failed in every stage.")
    )
    return [
        _rich_table("Funnel", funnel_table(ledger)),
        _rich_table("Reasons", reason_table(ledger)),
        _rich_table("Sources", source_table(ledger)),
        balance,
    ]


def funnel_png(ledger: Ledger) -> bytes:
    """The funnel as a picture: a bar for each stage, split by outcome."""
    from matplotlib.figure import Figure

    stages = list(reversed(ledger.stages))
    figure = Figure(figsize=(9, 0.45 * len(stages) + 1.4), layout="constrained")
    axes = figure.subplots()
    left = [0] * len(stages)
    for outcome in Outcome:
        widths = [stage.outcomes.get(outcome.value, 0) for stage in stages]
        axes.barh(
            [stage.stage for stage in stages],
            widths,
            left=left,
            color=_COLOURS[outcome],
            label=outcome.value,
        )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    for place, stage in enumerate(stages):
        axes.text(left[place], place, f"  {stage.kept} of {stage.rows_in}", va="center")
    axes.set_xlim(0, max([*left, 1]) * 1.15)
    axes.set_xlabel("rows")
    axes.set_title("Where the rows went")
    figure.legend(loc="outside lower center", ncols=len(Outcome), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()


def _rich_table(title: str, rows: list[list[str]]) -> RenderableType:
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold")
    for name in rows[0]:
        numeric = all(row[rows[0].index(name)].rstrip("%-").isdigit() for row in rows[1:])
        table.add_column(name, justify="right" if numeric and rows[1:] else "left")
    for row in rows[1:]:
        table.add_row(*row)
    return table
