"""CorpusStore: a folder of tables, each a set of Parquet shards listed by a manifest.

A shard is complete when it has its final name: it is written under a temporary one, flushed and
renamed. A manifest is replaced the same way, after its shards. So a killed run loses at most the
shards that were being written, and a reader never sees half a table.

    <root>/tables/<table>/manifest.json       what readers see
    <root>/tables/<table>/part-<hash>.parquet named by its content
    <root>/tables/<table>/lock                held by the one process that writes
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cass_pipeline.errors import StoreError
from cass_pipeline.outcomes import Outcome, Reason
from cass_pipeline.records import Row

Item = TypeVar("Item")

SHARD_BYTES = 128 << 20
"""Size that compaction aims at: few, large files suit DuckDB and the Hub."""
MANY_SMALL_SHARDS = 64
_ROWS_AT_ONCE = 64  # rows hold megabytes of assembly text


@dataclass(frozen=True)
class Shard:
    """One Parquet file of a table."""

    file: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """What a table holds, as of its last commit."""

    shards: tuple[Shard, ...] = ()
    content_key: str = ""
    """Of tables that are computed as a whole: the key of what they were computed from."""


@dataclass(frozen=True)
class CorpusStore:
    """The folder that holds every stage's table."""

    root: Path

    @contextlib.contextmanager
    def lock(self, on_wait: Callable[[str], None] = lambda message: None) -> Iterator[None]:
        """Makes this process the store's only writer, from reading its inputs to its commit."""
        with _locked(self.root / "lock", "the store", on_wait):
            yield

    def table(self, name: str, schema: pa.Schema) -> Table:
        """The table of one stage; its folder appears with its first shard."""
        return Table(self.root / "tables" / name, schema)


@dataclass(frozen=True)
class Table:
    """The Parquet shards of one stage."""

    folder: Path
    schema: pa.Schema

    @property
    def name(self) -> str:
        """The stage's noun."""
        return self.folder.name

    @contextlib.contextmanager
    def lock(self, on_wait: Callable[[str], None] = lambda message: None) -> Iterator[None]:
        """Makes this process the table's only writer; waits for another one to end.

        Args:
            on_wait: told once, with the process id of the holder, that it has to wait.
        """
        with _locked(self.folder / "lock", self.name, on_wait):
            yield

    def manifest(self) -> Manifest:
        """The last committed manifest; an empty one where nothing was committed.

        Raises:
            StoreError: the manifest is there but cannot be read.
        """
        path = self.folder / "manifest.json"
        try:
            fields = json.loads(path.read_text())
            fields["shards"] = tuple(Shard(**shard) for shard in fields["shards"])
            return Manifest(**fields)
        except FileNotFoundError:
            return Manifest()
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"{path} cannot be read ({error}); delete that file: "
                "the shards beside it are kept and taken up again"
            ) from error

    def paths(self) -> list[Path]:
        """Files of the committed shards, in the manifest's order."""
        return [self.folder / shard.file for shard in self.manifest().shards]

    def row_count(self) -> int:
        """Number of committed rows."""
        return sum(shard.rows for shard in self.manifest().shards)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Committed rows as one table; name the columns wherever they hold text."""
        names = self.schema.names if columns is None else list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        tables = [_read_shard(path, names).cast(schema) for path in self.paths()]
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def rows(
        self, columns: Sequence[str] | None = None, *, kept_only: bool = False
    ) -> Iterator[Row]:
        """Committed rows one by one; memory holds a few at a time."""
        names = self.schema.names if columns is None else list(columns)
        read = list(dict.fromkeys([*names, "outcome"]))
        for path in self.paths():
            with _store_errors(path):
                for batch in pq.ParquetFile(path).iter_batches(_ROWS_AT_ONCE, columns=read):
                    rows = pa.Table.from_batches([batch])
                    if kept_only:
                        rows = rows.filter(pc.field("outcome") == Outcome.KEPT.value)
                    yield from rows.select(names).to_pylist()

    def kept(self, columns: Sequence[str]) -> pa.Table:
        """Committed rows that go on to the next stage."""
        table = self.read([*dict.fromkeys([*columns, "outcome"])])
        return table.filter(pc.field("outcome") == Outcome.KEPT.value).select(list(columns))

    def write_shard(self, rows: Sequence[Row]) -> Shard:
        """Writes one complete shard; a later `commit` makes it visible.

        Raises:
            StoreError: a row does not fit the schema, or the disk refuses.
        """
        try:
            table = pa.Table.from_pylist(list(rows), schema=self.schema)
            table.validate()
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise StoreError(f"a row does not fit the schema of {self.name}: {error}") from error
        _check_required(table, self.name)
        _check_outcomes(table, self.name)
        return self._write(table, "part")

    def adopt(self) -> list[Shard]:
        """Commits complete shards that a killed run left behind; removes half-written files.

        Call it with the lock held. Returns the committed shards.
        """
        found = list(self.manifest().shards)
        listed = {shard.file for shard in found}
        settled = self.settled_keys()
        with _store_errors(self.folder):
            for path in self.folder.glob(".manifest.json.*"):
                path.unlink()
            for path in sorted(self.folder.glob("*.parquet*")):
                if path.name in listed:
                    continue
                finished = path.name.startswith("part-") and path.suffix == ".parquet"
                # The rest is half-written, half-compacted, or has since been done again.
                if not finished or settled & _keys(path):
                    path.unlink()
                    continue
                settled |= _keys(path)
                found.append(_describe(path))
        return list(self.commit(found).shards)

    def settled_keys(self) -> set[str]:
        """Keys of work that is done: none of its committed rows failed."""
        rows = self.read(["key", "outcome"])
        failed = rows.filter(pc.field("outcome") == Outcome.FAILED.value)["key"].to_pylist()
        return set(rows["key"].to_pylist()) - set(failed)

    def commit(
        self,
        shards: Sequence[Shard],
        *,
        live: Collection[str] | None = None,
        content_key: str = "",
    ) -> Manifest:
        """Makes `shards` the table's content and removes every other file.

        Args:
            shards: shards in this table's folder.
            live: keys whose rows stay; None keeps all. Of a key's rows in several shards, those
                of the last shard stay: a later try replaces an earlier one.
            content_key: see `Manifest`.
        """
        shards = self._compact(shards, live)
        manifest = Manifest(tuple(shards), content_key)
        if manifest != self.manifest():
            text = json.dumps(asdict(manifest), indent=1, sort_keys=True)
            write_atomically(self.folder / "manifest.json", text.encode())
        listed = {shard.file for shard in shards}
        with _store_errors(self.folder):
            for path in self.folder.glob("*.parquet*"):
                if path.name not in listed:
                    path.unlink()
        return manifest

    def amend(self, rows: Mapping[str, Row], by: str) -> Manifest:
        """Replaces single rows by others; shards that hold none of them stay as they are.

        What the old rows held is gone from the table's files when this returns. Call it with the
        lock held.

        Args:
            rows: the new rows, by the value of the column `by` in the row that each replaces.
            by: a column whose values identify the table's rows.
        """
        committed = self.manifest()
        shards: list[Shard] = []
        for shard in committed.shards:
            path = self.folder / shard.file
            found = [name for name in _values(path, by) if name in rows]
            if not found:
                shards.append(shard)
                continue
            table = _read_shard(path, self.schema.names).cast(self.schema)
            others = table.filter(pc.invert(pc.is_in(table[by], pa.array(found))))
            amended = pa.Table.from_pylist([rows[name] for name in found], schema=self.schema)
            _check_required(amended, self.name)
            _check_outcomes(amended, self.name)
            # One shard for one: rows that share a key must stay together.
            shards.append(self._write(pa.concat_tables([others, amended]), "part"))
        return self.commit(shards, content_key=committed.content_key)

    def replace(self, rows: Iterable[Row], content_key: str) -> Manifest:
        """Makes `rows` the whole content of the table: for stages that look at all rows at once."""
        shards: list[Shard] = []
        for batch in batched(rows, 1_000):
            shards.append(self.write_shard(batch))
        return self.commit(shards, content_key=content_key)

    def _compact(self, shards: Sequence[Shard], live: Collection[str] | None) -> Sequence[Shard]:
        """Rewrites the shards where rows are dead or where many shards are small."""
        last = {
            key: index
            for index, shard in enumerate(shards)
            for key in _keys(self.folder / shard.file)
            if live is None or key in live
        }
        stay = [
            pa.array(
                [last.get(key) == index for key in _values(self.folder / shard.file, "key")],
                pa.bool_(),
            )
            for index, shard in enumerate(shards)
        ]
        small = sum(shard.bytes < SHARD_BYTES // 2 for shard in shards)
        if small <= MANY_SMALL_SHARDS and all(pc.all(mask).as_py() is not False for mask in stay):
            return shards
        compacted: list[Shard] = []
        pending: list[pa.Table] = []
        for shard, mask in zip(shards, stay, strict=True):
            rows = _read_shard(self.folder / shard.file, self.schema.names)
            pending.append(rows.cast(self.schema).filter(mask))
            if sum(table.nbytes for table in pending) > 4 * SHARD_BYTES:
                compacted += self._write_all(pending)
                pending = []
        return compacted + self._write_all(pending)

    def _write_all(self, tables: list[pa.Table]) -> list[Shard]:
        table = pa.concat_tables(tables) if tables else self.schema.empty_table()
        # A prefix of its own: an unfinished compaction must not be taken for finished work.
        return [self._write(table, "compact")] if table.num_rows else []

    def _write(self, table: pa.Table, prefix: str) -> Shard:
        with _store_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary = self.folder / f"{prefix}-{os.getpid()}.parquet.tmp"
            try:
                pq.write_table(table, temporary, compression="zstd", row_group_size=256)
                digest = hashlib.sha256(temporary.read_bytes()).hexdigest()[:20]
                with temporary.open("rb") as handle:
                    os.fsync(handle.fileno())
                final = self.folder / f"{prefix}-{digest}.parquet"
                temporary.rename(final)
            finally:
                temporary.unlink(missing_ok=True)
        return _describe(final)


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces `path` as a whole or not at all.

    Raises:
        StoreError: the disk refuses.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with _store_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as handle:
                handle.write(data)
                handle.flush()
                os.fsync(handle.fileno())
            temporary.rename(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(path: Path, what: str, on_wait: Callable[[str], None]) -> Iterator[None]:
    with _store_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            on_wait(f"process {holder or 'unknown'} is writing {what}; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{path}: {error}; nothing already finished is lost: "
            "mend it (free disk space, permissions) and run the same command again"
        ) from error


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` items, the last one shorter; reads no further ahead than one list."""
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _read_shard(path: Path, columns: Sequence[str]) -> pa.Table:
    with _store_errors(path):
        return pq.ParquetFile(path).read(columns=list(columns))


def _values(path: Path, column: str) -> list[str]:
    values: list[str] = _read_shard(path, [column])[column].to_pylist()
    return values


def _keys(path: Path) -> set[str]:
    return set(_values(path, "key"))


def _describe(path: Path) -> Shard:
    with _store_errors(path):
        return Shard(path.name, pq.ParquetFile(path).metadata.num_rows, path.stat().st_size)


def _check_required(table: pa.Table, name: str) -> None:
    for column in table.schema:
        if not column.nullable and table[column.name].null_count:
            raise StoreError(f"{name}: column {column.name} may not be null")


def _check_outcomes(table: pa.Table, name: str) -> None:
    """A row's outcome must be the one that its reason always has."""
    pairs = zip(table["outcome"].to_pylist(), table["reason"].to_pylist(), strict=True)
    for outcome, reason in set(pairs):
        expected = Outcome.KEPT if reason is None else Reason(reason).outcome
        if outcome != expected:
            raise StoreError(f"{name}: outcome {outcome!r} contradicts reason {reason!r}")
