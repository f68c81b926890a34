"""What a table promises: shards appear whole, killed runs lose nothing finished, one writer."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyarrow as pa
import pytest

from cass_pipeline.errors import StoreError
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.records import BASE, Row, verdict_columns
from cass_pipeline.store import MANY_SMALL_SHARDS, CorpusStore, Table, batched, write_atomically

SCHEMA = pa.schema([*BASE, ("text", pa.large_string())])


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return CorpusStore(tmp_path).table("things", SCHEMA)


def row(key: str, text: str = "", verdict: Verdict | None = None) -> Row:
    columns = verdict_columns(verdict or Verdict.kept())
    return {"key": key, "unit_id": key, **columns, "text": text}


FAILED = Verdict.because(Reason.STALLED, "no end")
FILTERED = Verdict.because(Reason.EMPTY)


def keys(table: Table) -> list[str]:
    return sorted(table.read(["key"])["key"].to_pylist())


def test_rows_are_visible_after_a_commit_and_not_before(table: Table) -> None:
    shard = table.write_shard([row("a", "alpha")])
    assert keys(table) == []
    table.commit([shard])
    assert list(table.rows(["key", "text"])) == [{"key": "a", "text": "alpha"}]
    assert table.row_count() == 1


def test_an_empty_table_reads_as_no_rows_with_its_schema(table: Table) -> None:
    assert table.read().schema == SCHEMA
    assert list(table.rows()) == []


def test_kept_leaves_out_what_was_filtered_or_failed(table: Table) -> None:
    rows = [row("a"), row("b", verdict=FILTERED), row("c", verdict=FAILED)]
    table.commit([table.write_shard(rows)])
    assert table.kept(["key"])["key"].to_pylist() == ["a"]
    assert [found["key"] for found in table.rows(["key"], kept_only=True)] == ["a"]


def test_only_failed_work_is_not_settled(table: Table) -> None:
    rows = [row("a"), row("b", verdict=FILTERED), row("c", verdict=FAILED)]
    table.commit([table.write_shard(rows)])
    assert table.settled_keys() == {"a", "b"}


def test_shards_of_a_killed_run_are_taken_up(table: Table) -> None:
    table.commit([table.write_shard([row("a")])])
    table.write_shard([row("b")])
    (table.folder / "part-1.parquet.tmp").write_bytes(b"half a sha")
    table.adopt()
    assert keys(table) == ["a", "b"]
    assert not list(table.folder.glob("*.tmp"))


def test_an_unlisted_shard_whose_work_is_already_there_is_not_taken_up(table: Table) -> None:
    table.commit([table.write_shard([row("a", "first")])])
    table.write_shard([row("a", "again")])
    table.adopt()
    assert [found["text"] for found in table.rows(["text"])] == ["first"]


def test_half_a_compaction_is_not_taken_for_finished_work(table: Table) -> None:
    shard = table.write_shard([row("a")])
    table.commit([shard])
    shutil.copy(table.folder / shard.file, table.folder / "compact-0.parquet")
    table.adopt()
    assert keys(table) == ["a"]


def test_a_later_try_replaces_a_failed_one(table: Table) -> None:
    first = table.write_shard([row("a", verdict=FAILED), row("b")])
    table.commit([first])
    second = table.write_shard([row("a", "worked")])
    table.commit([first, second], live={"a", "b"})
    assert sorted((r["key"], r["text"]) for r in table.rows(["key", "text"])) == [
        ("a", "worked"),
        ("b", ""),
    ]


def test_rows_whose_input_is_gone_leave_the_table(table: Table) -> None:
    shard = table.write_shard([row("a"), row("b")])
    table.commit([shard], live={"b"})
    assert keys(table) == ["b"]
    table.commit(table.manifest().shards, live=set())
    assert keys(table) == []


def test_many_small_shards_become_few(table: Table) -> None:
    shards = [table.write_shard([row(f"{n:03}")]) for n in range(MANY_SMALL_SHARDS + 1)]
    table.commit(shards)
    assert len(table.manifest().shards) == 1
    assert keys(table) == [f"{n:03}" for n in range(MANY_SMALL_SHARDS + 1)]
    assert len(list(table.folder.glob("*.parquet"))) == 1


def test_replace_drops_everything_that_was_there(table: Table) -> None:
    table.commit([table.write_shard([row("old")])])
    table.replace([row("new")], content_key="k")
    assert keys(table) == ["new"]
    assert table.manifest().content_key == "k"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"text": 7}, "does not fit the schema of things"),
        ({"key": None}, "column key may not be null"),
        ({"outcome": "failed", "reason": "empty"}, "contradicts reason"),
        ({"outcome": "kept", "reason": "empty"}, "contradicts reason"),
        ({"outcome": "filtered", "reason": None}, "contradicts reason"),
    ],
)
def test_a_row_that_breaks_the_contract_is_refused(table: Table, bad: Row, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        table.write_shard([row("a") | bad])
    assert not list(table.folder.glob("*.parquet*"))


def test_a_damaged_manifest_is_named_with_the_remedy(table: Table) -> None:
    table.commit([table.write_shard([row("a")])])
    (table.folder / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match=r"manifest\.json cannot be read.*delete that file"):
        table.manifest()
    (table.folder / "manifest.json").unlink()
    table.adopt()
    assert keys(table) == ["a"]


def test_an_unchanged_commit_leaves_the_manifest_file_alone(table: Table) -> None:
    shard = table.write_shard([row("a")])
    table.commit([shard])
    before = (table.folder / "manifest.json").stat().st_mtime_ns
    table.commit([shard], live={"a"})
    assert (table.folder / "manifest.json").stat().st_mtime_ns == before


def test_equal_rows_give_equal_files(tmp_path: Path) -> None:
    files = [
        CorpusStore(tmp_path / name).table("things", SCHEMA).write_shard([row("a", "text")])
        for name in ("one", "other")
    ]
    assert files[0] == files[1]


def _hold(root: Path, ready: str) -> None:
    with CorpusStore(root).table("things", SCHEMA).lock():
        Path(ready).touch()
        time.sleep(60)


def test_a_second_writer_waits_and_says_for_whom(tmp_path: Path, table: Table) -> None:
    holder = multiprocessing.get_context("spawn").Process(
        target=_hold, args=(tmp_path, str(tmp_path / "ready"))
    )
    holder.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.05)
    waits: list[str] = []

    def stop_holder(message: str) -> None:
        waits.append(message)
        holder.kill()

    with table.lock(on_wait=stop_holder):
        pass
    assert waits == [f"process {holder.pid} is writing things; waiting for it"]
    holder.join()
    holder.close()


def test_a_full_disk_is_a_store_error_that_loses_nothing(tmp_path: Path) -> None:
    """The file size limit stands in for the disk: the kernel refuses the write the same way."""
    script = textwrap.dedent(
        """
        import resource, signal, sys
        from pathlib import Path
        from cass_pipeline.store import CorpusStore
        from cass_pipeline.errors import StoreError
        from tests.test_store import SCHEMA, row
        import random
        table = CorpusStore(Path(sys.argv[1])).table("things", SCHEMA)
        table.commit([table.write_shard([row("a")])])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        noise = "".join(chr(random.randrange(32, 60_000)) for _ in range(200_000))
        try:
            table.write_shard([row("b", noise.encode("utf-8", "ignore").decode())])
        except StoreError as error:
            print(error)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "free disk space" in done.stdout
    table = CorpusStore(tmp_path).table("things", SCHEMA)
    table.adopt()
    assert keys(table) == ["a"]


def test_kill_in_the_middle_of_writing_leaves_a_readable_table(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from cass_pipeline.store import CorpusStore
        from tests.test_store import SCHEMA, row
        table = CorpusStore(Path(sys.argv[1])).table("things", SCHEMA)
        shards = []
        with table.lock():
            for number in range(10_000):
                shards.append(table.write_shard([row(f"{number:05}", "x" * 1000)]))
                table.commit(shards)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    table = CorpusStore(tmp_path).table("things", SCHEMA)
    while len(table.manifest().shards) < 5:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    table.adopt()
    found = keys(table)
    assert found == [f"{number:05}" for number in range(len(found))]
    assert len(found) >= 5


def test_write_atomically_keeps_the_old_content_when_it_fails(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_atomically(target, b"old")
    target.chmod(0o644)
    (tmp_path / "blocked").write_text("a file where a folder is needed")
    with pytest.raises(StoreError, match="blocked"):
        write_atomically(tmp_path / "blocked" / "file", b"new")
    assert target.read_bytes() == b"old"


def test_batched_reads_no_further_than_it_must() -> None:
    taken: list[int] = []

    def items() -> object:
        for number in range(5):
            taken.append(number)
            yield number

    batches = batched(items(), 2)  # type: ignore[arg-type]
    assert next(batches) == [0, 1]
    assert taken == [0, 1]
    assert list(batches) == [[2, 3], [4]]
