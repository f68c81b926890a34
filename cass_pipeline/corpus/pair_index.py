"""`pair_index.parquet`: the pairs of a release in a few bytes each, to compare releases by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.errors import StoreError
from cass_pipeline.records import Row

INDEX = "pair_index.parquet"

SCHEMA = pa.schema(
    [
        pa.field("pair_id", pa.string(), nullable=False),
        pa.field("unit_id", pa.string(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("source_name", pa.string()),
        pa.field("source_path", pa.string()),
        pa.field("level", pa.string()),
        # A hash of the translator, both toolchains and their flags.
        pa.field("made_by", pa.string(), nullable=False),
    ]
)
_QUERY = """
    SELECT pair_id, unit_id, source, source_name, source_path, verification.level AS level,
           sha256(concat_ws(chr(10), translator, cuda_toolchain, hip_toolchain,
                            cuda_flags::VARCHAR, hip_flags::VARCHAR)) AS made_by
    FROM pairs ORDER BY pair_id
"""


@dataclass(frozen=True)
class Changes:
    """What one release has that another has not. Rows are those of `SCHEMA`."""

    added: tuple[Row, ...]
    removed: tuple[Row, ...]
    """Rows of the older release."""
    relevelled: tuple[Row, ...]
    """Pairs whose verification level is another one now."""
    remade: tuple[Row, ...]
    """Pairs of the same level that other compilers or another translator made."""
    before: int
    now: int


def write_index(path: Path, pairs: Sequence[Path], engine: Engine) -> None:
    """Writes the index of some files of unit-level pairs; equal pairs give equal bytes."""
    with engine.connect() as connection:
        connection.read_parquet([str(file) for file in pairs]).create_view("pairs")
        rows: pa.Table = connection.sql(_QUERY).to_arrow_table()
    pq.write_table(rows.cast(SCHEMA), path, compression="zstd")


def read_index(path: Path) -> pa.Table:
    """The rows of an index.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        return pq.read_table(path).cast(SCHEMA)
    except (OSError, pa.ArrowException, ValueError) as error:
        raise StoreError(f"{path} is not the index of a release: {error}") from error


def compare(before: pa.Table | None, now: pa.Table) -> Changes:
    """What became of the pairs from one index to another; None for "no release yet"."""
    old = {row["pair_id"]: row for row in before.to_pylist()} if before is not None else {}
    new = {row["pair_id"]: row for row in now.to_pylist()}
    common = [(old[pair_id], row) for pair_id, row in new.items() if pair_id in old]
    return Changes(
        added=tuple(row for pair_id, row in new.items() if pair_id not in old),
        removed=tuple(row for pair_id, row in old.items() if pair_id not in new),
        relevelled=tuple(row for was, row in common if was["level"] != row["level"]),
        remade=tuple(
            row
            for was, row in common
            if was["level"] == row["level"] and was["made_by"] != row["made_by"]
        ),
        before=len(old),
        now=len(new),
    )
