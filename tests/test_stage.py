"""What the stage driver promises: equal work once, failed work again, nothing lost or hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from cass_pipeline.errors import InputError, ToolchainError
from cass_pipeline.fanout import LocalFanout, SerialFanout
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.records import BASE, Row, verdict_columns
from cass_pipeline.stage import StageReport, Work, run_stage, run_whole_stage
from cass_pipeline.store import CorpusStore, Table

SCHEMA = pa.schema([*BASE, ("square", pa.int64())])


@dataclass(frozen=True)
class Square:
    """Squares a number; what it does with some numbers is a test's business."""

    calls: Path
    broken: bool = False

    def __call__(self, row: Row) -> Row:
        number: int = row["number"]
        with self.calls.open("a") as handle:
            handle.write(f"{number}\n")
        if number == 13:
            raise ValueError("unlucky")
        if number == 14 and self.broken:
            raise ToolchainError("no compiler")
        if number == 15:
            raise InputError("a path too long")
        if number < 0:
            return verdict_columns(Verdict.because(Reason.EMPTY, "negative"))
        return {**verdict_columns(Verdict.kept()), "square": number * number}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return CorpusStore(tmp_path).table("squares", SCHEMA)


def run(
    table: Table, numbers: list[int], *, workers: int = 0, batch: int = 2, broken: bool = False
) -> StageReport:
    def load(todo: set[str]) -> Iterator[Work]:
        for number in numbers:
            if str(number) in todo:
                yield Work(str(number), f"unit {number}", {"number": number})

    return run_stage(
        table,
        [str(number) for number in numbers],
        load,
        Square(table.folder.parent / "calls", broken),
        LocalFanout(workers) if workers else SerialFanout(),
        batch_size=batch,
        log=lambda message: None,
    )


def calls(table: Table) -> list[int]:
    path = table.folder.parent / "calls"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_every_row_gets_exactly_one_outcome(table: Table) -> None:
    table.folder.mkdir(parents=True)
    report = run(table, [1, 2, -3, 13])
    assert report.adds_up
    assert report.outcomes == {"failed": 1, "filtered": 1, "kept": 2}
    assert report.reasons == {"empty": 1, "internal_error": 1}


def test_a_fault_of_ours_is_recorded_with_its_traceback(table: Table) -> None:
    table.folder.mkdir(parents=True)
    run(table, [13])
    (row,) = table.rows(["reason", "evidence"])
    assert row["reason"] == Reason.INTERNAL_ERROR.value
    assert "ValueError: unlucky" in row["evidence"]


def test_one_rows_input_error_does_not_stop_the_others(table: Table) -> None:
    table.folder.mkdir(parents=True)
    report = run(table, [1, 15])
    assert report.outcomes == {"failed": 1, "kept": 1}


def test_a_second_run_does_only_what_is_new_or_failed(table: Table) -> None:
    table.folder.mkdir(parents=True)
    run(table, [1, 2, 13])
    report = run(table, [2, 3, 13])
    assert sorted(calls(table)) == [1, 2, 3, 13, 13]
    assert (report.computed, report.reused) == (2, 1)
    assert sorted(row["square"] or 0 for row in table.rows(["square"])) == [0, 4, 9]


def test_nothing_new_means_nothing_done(table: Table) -> None:
    table.folder.mkdir(parents=True)
    run(table, [1, 2])
    before = sorted(path.name for path in table.folder.iterdir())
    assert run(table, [1, 2]).computed == 0
    assert sorted(path.name for path in table.folder.iterdir()) == before


def test_infrastructure_errors_stop_the_stage_and_keep_finished_shards(table: Table) -> None:
    table.folder.mkdir(parents=True)
    with pytest.raises(ToolchainError, match="no compiler"):
        run(table, [1, 2, 14], batch=1, broken=True)
    run(table, [1, 2, 14], batch=1)
    assert sorted(calls(table)) == [1, 2, 14, 14]


def test_processes_give_the_same_rows_as_one(table: Table, tmp_path: Path) -> None:
    numbers = list(range(-5, 12))
    other = CorpusStore(tmp_path / "other").table("squares", SCHEMA)
    table.folder.mkdir(parents=True)
    other.folder.mkdir(parents=True)
    run(table, numbers)
    run(other, numbers, workers=2)
    assert sorted(table.rows(), key=str) == sorted(other.rows(), key=str)


def test_progress_says_rate_and_time_left(table: Table) -> None:
    lines: list[str] = []
    table.folder.mkdir(parents=True)
    run_stage(
        table,
        ["1"],
        lambda todo: [Work("1", "unit", {"number": 1})],
        Square(table.folder.parent / "calls"),
        SerialFanout(),
        batch_size=1,
        log=lines.append,
    )
    assert len(lines) == 1
    assert lines[0].startswith("squares: 1/1 done (1 kept), ")
    assert lines[0].endswith("/s, 0 s left")


def test_a_whole_stage_is_computed_once_per_content(table: Table) -> None:
    computed: list[str] = []

    def compute() -> Iterator[Row]:
        computed.append("once")
        yield {"key": "a", "unit_id": "a", "outcome": "kept", "square": 4}

    for content in ("one", "one", "two"):
        report = run_whole_stage(table, content, compute, 1, log=lambda message: None)
        assert report.kept == 1
    assert computed == ["once", "once"]
