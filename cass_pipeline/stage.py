"""Runs a stage incrementally: only work whose content key the table does not hold yet."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cass_pipeline.errors import ConfigurationError, InfrastructureError
from cass_pipeline.fanout import Fanout
from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.records import Row, verdict_columns
from cass_pipeline.store import Table, batched

Log = Callable[[str], None]


@dataclass(frozen=True)
class Work:
    """One piece of work: what addresses it, whose it is, and the input row it needs."""

    key: str
    unit_id: str
    row: Row


class Worker(Protocol):
    """Turns one input row into output rows. Picklable; prints nothing, deletes nothing."""

    def __call__(self, row: Row) -> Row | list[Row]:
        """Columns of the stage's table without `key`; without `unit_id` where it is the work's.

        A stage that collects gives as many rows as it finds; every other stage gives one.
        """
        ...


@dataclass(frozen=True)
class StageReport:
    """What one run of a stage did, and what its table holds now."""

    stage: str
    rows_in: int
    """Rows the stage had to decide about."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Rows now in the table by outcome."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Rows now in the table by reason."""
    computed: int = 0
    """Pieces of work done by this run."""
    reused: int = 0
    """Pieces of work that an earlier run had done."""
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        """Rows now in the table."""
        return sum(self.outcomes.values())

    @property
    def kept(self) -> int:
        """Rows that go on to the next stage."""
        return self.outcomes.get(Outcome.KEPT.value, 0)

    @property
    def adds_up(self) -> bool:
        """Whether every row in became exactly one row out."""
        return self.rows_in == self.rows

    def summary(self) -> str:
        """One line for people."""
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.outcomes.items()))
        return (
            f"{self.stage}: {self.rows_in} in: {counts or 'nothing'} "
            f"({self.computed} computed, {self.reused} reused, {self.seconds:.1f} s)"
        )


@dataclass(frozen=True)
class Effort:
    """How much of a stage's work this run did."""

    computed: int
    reused: int
    seconds: float


def report_of(table: Table, rows_in: int, effort: Effort) -> StageReport:
    """Counts the rows that `table` holds now."""
    columns = table.read(["outcome", "reason"])
    reasons = Counter(reason for reason in columns["reason"].to_pylist() if reason)
    return StageReport(
        stage=table.name,
        rows_in=rows_in,
        outcomes=dict(sorted(Counter(columns["outcome"].to_pylist()).items())),
        reasons=dict(reasons.most_common()),
        computed=effort.computed,
        reused=effort.reused,
        seconds=effort.seconds,
    )


def run_stage(
    table: Table,
    keys: Sequence[str],
    load: Callable[[set[str]], Iterable[Work]],
    worker: Worker,
    fanout: Fanout,
    *,
    batch_size: int,
    log: Log,
) -> StageReport:
    """Brings `table` up to date: one row for each of `keys`.

    Every key that the table does not hold, or holds as failed, is worked on; rows of other keys
    leave the table. Each finished batch is a shard on disk, so a killed run resumes there.

    Args:
        table: the stage's table.
        keys: content keys of all the work there is.
        load: yields the work of the given keys, reading input rows as it goes.
        worker: see `Worker`; its unexpected exceptions become rows with `internal_error`.
        fanout: where batches are worked on.
        batch_size: pieces of work in one shard.
        log: told about progress.

    Raises:
        CassError: wrong configuration or infrastructure; what was finished stays.
    """
    started = time.monotonic()
    wanted = set(keys)
    with table.lock(on_wait=log):
        shards = table.adopt()
        todo = wanted - table.settled_keys()
        progress = Progress(table.name, len(todo), log)
        for rows in fanout.map(_Batch(worker), batched(load(todo), batch_size)):
            shards.append(table.write_shard(rows))
            progress.advance(rows)
        table.commit(shards, live=wanted)
    effort = Effort(len(todo), len(wanted) - len(todo), time.monotonic() - started)
    return report_of(table, len(keys), effort)


def run_whole_stage(
    table: Table,
    content_key: str,
    compute: Callable[[], Iterable[Row]],
    rows_in: int,
    *,
    log: Log,
    force: bool = False,
) -> StageReport:
    """Brings a table up to date whose rows depend on all input rows at once.

    Args:
        table: the stage's table.
        content_key: addresses all inputs and settings; equal to the committed one, nothing is done.
        compute: yields every row, in a deterministic order.
        rows_in: rows the stage decides about.
        log: told about progress.
        force: compute whatever the committed key is.
    """
    started = time.monotonic()
    with table.lock(on_wait=log):
        current = not force and table.manifest().content_key == content_key
        if not current:
            table.replace(compute(), content_key)
    done = 0 if current else rows_in
    return report_of(table, rows_in, Effort(done, rows_in - done, time.monotonic() - started))


@dataclass
class Progress:
    """Says how far a stage is, how fast it goes and how long it will take."""

    stage: str
    total: int
    log: Log
    done: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)

    def advance(self, rows: Sequence[Row]) -> None:
        """Counts the rows of a finished batch and says so."""
        self.done += len({row["key"] for row in rows})
        self.outcomes.update(row["outcome"] for row in rows)
        rate = self.done / max(time.monotonic() - self.started, 1e-3)
        left = (self.total - self.done) / rate
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.outcomes.items()))
        self.log(
            f"{self.stage}: {self.done}/{self.total} done ({counts}), "
            f"{rate:.2f}/s, {_duration(left)} left"
        )


@dataclass(frozen=True)
class _Batch:
    """Applies a worker to each piece of work of a batch; picklable."""

    worker: Worker

    def __call__(self, batch: list[Work]) -> list[Row]:
        return [row for work in batch for row in self._rows(work)]

    def _rows(self, work: Work) -> list[Row]:
        try:
            columns = self.worker(work.row)
        except (ConfigurationError, InfrastructureError):
            raise
        except Exception:
            # A fault of ours in one row must not cost the others, and must not be hidden either.
            columns = verdict_columns(
                Verdict.because(Reason.INTERNAL_ERROR, traceback.format_exc(limit=-8))
            )
        rows = columns if isinstance(columns, list) else [columns]
        return [{"unit_id": work.unit_id, **row, "key": work.key} for row in rows]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        f"{hours} h {minutes} min"
        if hours
        else f"{minutes} min {rest} s"
        if minutes
        else f"{rest} s"
    )
