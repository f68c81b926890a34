"""The metadata that every asset attaches: the same keys for every stage."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import dagster as dg
import pyarrow as pa

from cass_pipeline.outcomes import Outcome, Reason
from cass_pipeline.records import Row
from cass_pipeline.stage import StageReport
from cass_pipeline.store import Table

PREVIEW_ROWS = 3
PREVIEW_CHARS = 120


def materialized(
    report: StageReport, table: Table, preview: Iterable[str], **extra: Any
) -> dg.MaterializeResult[None]:
    """Counts, reasons, schema and a preview of a stage's table, for the asset's page.

    Args:
        report: what the stage did.
        table: the stage's table.
        preview: columns to show three kept rows of.
        extra: further metadata entries.
    """
    columns = list(preview)
    kept = table.rows(columns, kept_only=True)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": report.rows,
            "dagster/uri": str(table.folder),
            "dagster/column_schema": column_schema(table.schema),
            "rows_in": report.rows_in,
            **{outcome.value: report.outcomes.get(outcome.value, 0) for outcome in Outcome},
            "computed": report.computed,
            "reused": report.reused,
            "seconds": round(report.seconds, 2),
            "reasons": reasons_table(report),
            "preview": dg.MetadataValue.md(preview_table(kept, columns)),
            **extra,
        }
    )


def column_schema(schema: pa.Schema) -> dg.TableSchemaMetadataValue:
    """An Arrow schema as the UI shows it."""
    return dg.MetadataValue.table_schema(
        dg.TableSchema([dg.TableColumn(field.name, str(field.type)) for field in schema])
    )


def reasons_table(report: StageReport) -> dg.TableMetadataValue:
    """Why rows were not kept, the most frequent reason first."""
    return dg.MetadataValue.table(
        [
            dg.TableRecord(
                {
                    "reason": reason,
                    "outcome": Reason(reason).outcome.value,
                    "rows": count,
                    "explanation": Reason(reason).explanation,
                }
            )
            for reason, count in report.reasons.items()
        ],
        dg.TableSchema(
            [
                dg.TableColumn("reason"),
                dg.TableColumn("outcome"),
                dg.TableColumn("rows", "int"),
                dg.TableColumn("explanation"),
            ]
        ),
    )


def preview_table(rows: Iterable[Row], columns: list[str]) -> str:
    """The first three rows as a Markdown table, long values cut."""
    rows = list(islice(rows, PREVIEW_ROWS))
    if not rows:
        return "No row was kept."
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_cell(row[name]) for name in columns) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    text = str(value)
    cut = text[:PREVIEW_CHARS] + ("…" if len(text) > PREVIEW_CHARS else "")
    return "`" + cut.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"
