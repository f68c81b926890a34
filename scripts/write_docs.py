"""Writes docs/tables.md and docs/ledger.md from the schemas and the reasons.

    python scripts/write_docs.py

A test compares the files with what this script would write.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from cass_pipeline import records
from cass_pipeline.corpus.columns import KERNEL_COLUMNS, PAIR_COLUMNS
from cass_pipeline.ledger import STAGES
from cass_pipeline.outcomes import REASONS

DOCS = Path(__file__).parents[1] / "docs"

TABLES_HEAD = """\
# Tables

Every stage keeps one Parquet table below `var/tables/<asset>`, and decides about every row it
is given: `outcome` is `kept`, `filtered` (done) or `failed` (tried again by the next run);
`reason` and `evidence` say why. Columns that a stage adds are null where the row was not kept.
`key` is the hash of the row's input, settings and toolchain; work with a known key is never done
twice.
"""

LEDGER_HEAD = """\
# The ledger

In every stage: rows in = kept + filtered + failed. A blocking check guards this. `cass ledger`
and the asset `stage_ledger` show the funnel; the table `stage_ledger` says for each collected
file which stage it reached and why it stopped there.

*Filtered* is final for the same input and settings. *Failed* is tried again by the next run.

| reason | outcome | meaning |
| --- | --- | --- |
"""


def tables() -> str:
    """docs/tables.md."""
    schemas = {name: facts.schema for name, facts in STAGES.items()}
    schemas["stage_ledger"] = records.FATES
    parts = [TABLES_HEAD]
    for name, schema in schemas.items():
        parts.append(f"## {name}\n\n{_columns(schema, {})}")
    parts.append(
        "# The training set\n\n`var/training_set` holds the tokenizer and `records.parquet`, the "
        f"kept records with their texts.\n\n{_columns(records.TRAINING_RECORDS, {})}"
    )
    parts.append(
        "# The dataset\n\n`hub_dataset` is the release folder, with two configurations.\n\n"
        f"## pairs\n\n{_columns(records.PUBLISHED_PAIRS, PAIR_COLUMNS)}\n"
        f"## kernels\n\n{_columns(records.PUBLISHED_KERNELS, KERNEL_COLUMNS)}"
    )
    return "\n".join(parts)


def ledger() -> str:
    """docs/ledger.md."""
    rows = (
        f"| `{reason.value}` | {facts.outcome.value} | {facts.explanation} |\n"
        for reason, facts in REASONS.items()
    )
    return LEDGER_HEAD + "".join(rows)


def _columns(schema: pa.Schema, described: dict[str, str]) -> str:
    lines = ["| column | type | meaning |" if described else "| column | type |"]
    lines.append("| --- | --- | --- |" if described else "| --- | --- |")
    for field in schema:
        meaning = f" {described[field.name]} |" if described else ""
        lines.append(f"| `{field.name}` | `{_type(field.type)}` |{meaning}")
    return "\n".join(lines) + "\n"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list<{_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(field.name for field in kind)}>"
    return str(kind).removeprefix("large_")


if __name__ == "__main__":
    (DOCS / "tables.md").write_text(tables())
    (DOCS / "ledger.md").write_text(ledger())
