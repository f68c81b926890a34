"""Sorts wide rows that do not fit into memory, by dealing them out to key ranges on disk.

DuckDB 2.0 keeps whole rows in memory to sort them: at 100 KB a row, a limit of one gigabyte was
not enough for 7,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.errors import InputError

_RANGE_BYTES = 128 << 20  # uncompressed rows of one key range: what is in memory at a time
_BATCH_ROWS = 128
_MOST_RANGES = 256  # open files

Ranks = npt.NDArray[np.int64]


def sorted_tables(
    paths: Sequence[Path], keys: Sequence[str], schema: pa.Schema, scratch: Path
) -> Iterator[pa.Table]:
    """The rows of some Parquet files in the order of their keys, in tables that fit into memory.

    Args:
        paths: files with the columns of `schema`; read twice.
        keys: columns that identify a row; compared byte by byte.
        schema: schema of the tables.
        scratch: folder for a compressed copy of all rows, removed at the end.

    Raises:
        InputError: two rows have the same key.
    """
    ranks = _ranks(paths, keys)
    count = min(_MOST_RANGES, 1 + _uncompressed_bytes(paths) // _RANGE_BYTES)
    ranges = ranks * count // max(len(ranks), 1)
    scratch.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="sorting-", dir=scratch) as folder:
        files = [Path(folder) / f"{number}.arrow" for number in range(count)]
        _deal(paths, ranges, files, schema)
        for number, file in enumerate(files):
            order = np.argsort(ranks[ranges == number])
            with pa.memory_map(str(file)) as source:
                yield pa.ipc.open_stream(source).read_all().take(order)
            file.unlink()


def _ranks(paths: Sequence[Path], keys: Sequence[str]) -> Ranks:
    """The place that each row, in the order of the files, has after sorting."""
    rows = pl.scan_parquet(list(paths)).select(keys).collect()
    repeated = rows.filter(rows.is_duplicated())
    if repeated.height:
        raise InputError(f"two rows have the key {repeated.sort(keys).row(0)}")
    order = rows.with_row_index("row").sort(keys)["row"].to_numpy()
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _uncompressed_bytes(paths: Sequence[Path]) -> int:
    files = [pq.read_metadata(path) for path in paths]
    return sum(
        file.row_group(group).total_byte_size
        for file in files
        for group in range(file.num_row_groups)
    )


def _deal(paths: Sequence[Path], ranges: Ranks, files: Sequence[Path], schema: pa.Schema) -> None:
    """Copies every row to the file of its range; within a range the order stays."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                pa.ipc.new_stream(
                    stack.enter_context(pa.OSFile(str(file), "wb")), schema, options=options
                )
            )
            for file in files
        ]
        start = 0
        for path in paths:
            with pq.ParquetFile(path) as source:
                for batch in source.iter_batches(_BATCH_ROWS, columns=schema.names):
                    here = ranges[start : start + batch.num_rows]
                    start += batch.num_rows
                    for number in np.unique(here):
                        writers[number].write_batch(batch.filter(here == number).cast(schema))
