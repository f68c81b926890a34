"""DuckDB connections with stated limits, for work that may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cass_pipeline.errors import InfrastructureError, StoreError

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Engine:
    """What one query may use of the machine."""

    temp_directory: Path
    """Where DuckDB and this package put what does not fit into memory; created where missing."""
    memory_limit: str = "4GB"
    """DuckDB's buffer memory, as it writes sizes. Rows in flight come on top."""
    threads: int = 2
    """Threads of one query. Results do not depend on it."""

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """An in-memory database under these limits, closed at the end of the block.

        Raises:
            StoreError: a Parquet file cannot be read.
            InfrastructureError: the memory limit does not suffice.
        """
        import duckdb

        self.temp_directory.mkdir(parents=True, exist_ok=True)
        # Queries read the named files and nothing else: no extension is fetched or loaded.
        with duckdb.connect(
            ":memory:",
            config={
                "memory_limit": self.memory_limit,
                "temp_directory": str(self.temp_directory / "duckdb"),
                "threads": self.threads,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        ) as connection:
            try:
                yield connection
            except duckdb.OutOfMemoryException as error:
                raise InfrastructureError(
                    f"{self.memory_limit} of memory do not suffice for a query: raise the memory "
                    f"limit, or free space under {self.temp_directory}"
                ) from error
            except duckdb.IOException as error:
                raise StoreError(f"a Parquet file cannot be read: {error}") from error


def batches(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Any = None, rows: int = 4096
) -> Iterator[pa.RecordBatch]:
    """The result of a query in Arrow batches of at most `rows` rows, read as they are taken."""
    yield from connection.sql(query, params=parameters).to_arrow_reader(rows)
