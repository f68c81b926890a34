"""Maps a function over shards of work, on this machine's processes or threads."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Protocol, TypeVar

from cass_pipeline.errors import InfrastructureError

Item = TypeVar("Item")
Result = TypeVar("Result")

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Fanout(Protocol):
    """Where shards are worked on. A stage never knows which implementation it has."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yields results as they finish, in any order; items are taken only as needed."""
        ...


@dataclass(frozen=True)
class SerialFanout:
    """One item after another in this process: for tests and for debugging."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """See `Fanout.map`."""
        return map(function, items)


@dataclass(frozen=True)
class LocalFanout:
    """A pool of worker processes on this machine."""

    workers: int = 0
    """Number of processes; 0 means one for each CPU this process may use."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """See `Fanout.map`. `function` and the items must be picklable.

        Raises:
            InfrastructureError: a worker process died (for example, killed for memory).
        """
        workers = self.workers or len(os.sched_getaffinity(0))
        # Workers start from a clean interpreter: forking one with Arrow's threads can deadlock.
        pool = ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_die_with_parent,
            initargs=(os.getpid(),),
        )
        try:
            yield from _bounded(pool, workers, function, items)
        except BrokenProcessPool as error:
            raise InfrastructureError(
                "a worker process died, perhaps for want of memory; finished shards are safe: "
                "run the same command again, with fewer workers if it recurs"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class ThreadFanout:
    """Threads of this process: for work that mostly waits for the network."""

    workers: int

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """See `Fanout.map`."""
        pool = ThreadPoolExecutor(self.workers)
        try:
            yield from _bounded(pool, self.workers, function, items)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _bounded(
    pool: Executor, workers: int, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    source = iter(items)
    running: set[Future[Result]] = set()
    while True:
        with contextlib.suppress(StopIteration):
            # One item more than workers keeps each busy without reading far ahead.
            while len(running) <= workers:
                running.add(pool.submit(function, next(source)))
        if not running:
            return
        finished, running = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            yield future.result()


def _die_with_parent(parent: int) -> None:
    """A killed run must leave no worker behind that still writes shards."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
