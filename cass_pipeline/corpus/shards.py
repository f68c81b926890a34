"""Parquet shards whose bytes depend on the rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.corpus.sorting import sorted_tables
from cass_pipeline.errors import InputError


@dataclass(frozen=True)
class Table:
    """One configuration of a release."""

    name: str
    """Name of the configuration: `pairs` or `kernels`."""
    paths: Sequence[Path]
    """Parquet files of equal schema, in any order."""
    keys: tuple[str, ...]
    """Columns that identify a row; rows are sorted by them."""
    columns: Mapping[str, str]
    """One sentence for each column."""
    row: str
    """What a row is, as the end of "One row is …"."""

    def schema(self) -> pa.Schema:
        """Schema of the files, without metadata.

        Raises:
            InputError: there is no file, files differ, or a column is not described.
        """
        schemas = [pq.read_schema(path).remove_metadata() for path in self.paths]
        if not schemas or any(schema != schemas[0] for schema in schemas):
            raise InputError(f"table {self.name!r} needs Parquet files, all of one schema")
        unknown = sorted(set(schemas[0].names) ^ set(self.columns))
        if unknown:
            raise InputError(
                f"the columns and the descriptions of table {self.name!r} differ in {unknown}"
            )
        return schemas[0]


@dataclass(frozen=True)
class ShardSettings:
    """How rows become files. Each setting changes the bytes."""

    shard_bytes: int = 200 << 20
    """A shard ends with the row group that reaches this size (compressed)."""
    group_rows: int = 256
    """Rows of one row group: what a reader has to hold at once."""
    compression_level: int = 3
    """Zstandard level. On made listings, level 9 took twice the time for 3% less."""


@dataclass(frozen=True)
class Shards:
    """What was written for one table."""

    paths: tuple[Path, ...]
    rows: int
    schema: pa.Schema


def write_shards(table: Table, folder: Path, settings: ShardSettings, scratch: Path) -> Shards:
    """Writes the rows of a table, sorted by its keys, as `train-00000-of-0000N.parquet`.

    A table without rows becomes one shard without rows, so that it can still be loaded.

    Raises:
        InputError: see `Table.schema`; or two rows have the same key.
    """
    schema = table.schema()
    folder.mkdir(parents=True)
    rows = 0
    parts: list[Path] = []
    tables = sorted_tables(table.paths, table.keys, schema, scratch)
    groups = _row_groups(tables, schema, settings.group_rows)
    group = next(groups, schema.empty_table())
    while group is not None:
        parts.append(folder / f"part-{len(parts)}")
        written, group = _write_shard(parts[-1], schema, group, groups, settings)
        rows += written
    names = [f"train-{number:05}-of-{len(parts):05}.parquet" for number in range(len(parts))]
    paths = tuple(part.rename(folder / name) for part, name in zip(parts, names, strict=True))
    return Shards(paths, rows, schema)


def _write_shard(
    path: Path,
    schema: pa.Schema,
    group: pa.Table | None,
    groups: Iterator[pa.Table],
    settings: ShardSettings,
) -> tuple[int, pa.Table | None]:
    """Writes row groups until the shard is full; gives the rows written and the next group."""
    rows = 0
    with (
        pa.OSFile(str(path), "wb") as sink,
        pq.ParquetWriter(
            sink,
            schema,
            compression="zstd",
            compression_level=settings.compression_level,
            write_page_index=True,
            # Equal rows give equal pages, so a Hub that stores chunks once uploads less of the
            # next release.
            use_content_defined_chunking=True,
        ) as writer,
    ):
        while group is not None and sink.tell() < settings.shard_bytes:
            writer.write_table(group, row_group_size=settings.group_rows)
            rows += group.num_rows
            group = next(groups, None)
    return rows, group


def _row_groups(tables: Iterable[pa.Table], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """Tables of exactly `rows` rows (the last may be shorter), whatever those given are."""
    waiting = schema.empty_table()
    for table in tables:
        waiting = pa.concat_tables([waiting, table])
        while waiting.num_rows >= rows:
            yield waiting.slice(0, rows).combine_chunks()
            waiting = waiting.slice(rows)
    if waiting.num_rows:
        yield waiting.combine_chunks()
