"""Runs one process tree within limits and reports what became of it: a program of its own.

`cass_pipeline.execute.sandbox` starts it with a bare interpreter, one process for each run. A
process of its own buys what a library call inside a threaded program cannot have: it is the
subreaper of the tree (so no orphan escapes, and the CPU time of every descendant that was waited
for is counted exactly), it may set limits between fork and exec, and it dies with the caller.
Standard library only, which keeps the start short.

Protocol: stdin carries one JSON line and then the program's stdin; stdout gets one JSON line,
then the program's stdout and stderr.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
from typing import Any

from cass_pipeline.execute.bubblewrap import GATE_FD, STATUS_FD
from cass_pipeline.execute.process_tree import (
    Descendants,
    out_of_memory_kills,
    reaped_cpu_seconds,
)

FIRST_POLL, LAST_POLL = 0.005, 0.1  # seconds between two looks at the tree
POLL_SHARE = 0.05  # the looks themselves may take this share of one core,
LONGEST_PAUSE = 0.3  # unless that would leave the tree unseen for longer than this
BURST = 4  # so many times the allowed processes may exist between two looks
REAPED_AT_ONCE = 500  # a fork bomb makes zombies faster than they can be taken
CLEAN_UP_SECONDS = 30.0  # for a killed process that is stuck inside the kernel
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38  # linux/prctl.h

_libc = ctypes.CDLL(None, use_errno=True)


class Output:
    """The bytes of both streams, up to a bound they share."""

    def __init__(self, bound: int, *streams: int) -> None:
        self.room = bound
        self.overflow = False
        self.kept = {stream: bytearray() for stream in streams}
        self.open = set(streams)
        for stream in streams:
            os.set_blocking(stream, False)

    def drain(self, stream: int) -> None:
        """Takes what is there; past the bound it is dropped and `overflow` set."""
        while stream in self.open and not self.overflow:
            try:
                data = os.read(stream, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                self.open.remove(stream)
            self.overflow = len(data) > self.room
            self.kept[stream] += data[: self.room]
            self.room -= min(len(data), self.room)


class Bubblewrap:
    """Its status reports, and the gate at which it waits before it starts the program."""

    def __init__(self) -> None:
        self._reports, status = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        gate, self._gate = os.pipe2(os.O_CLOEXEC)
        self._text, self._ended = b"", False
        for stream, inherited in ((status, STATUS_FD), (gate, GATE_FD)):
            os.dup2(stream, inherited)
            os.close(stream)

    def open_gate(self, spec: dict[str, Any]) -> None:
        """Bounds the number of processes inside, then lets the program start.

        RLIMIT_NPROC counts within the user namespace only if set by then, and never binds root.
        """
        os.close(STATUS_FD)
        os.close(GATE_FD)
        if not spec["isolated"]:
            return
        while not (first := re.search(rb'"child-pid": (\d+)', self.status())):
            if not select.select([self._reports], [], [], spec["wall_seconds"])[0] or self._ended:
                return
        bound = BURST * spec["processes"]
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(int(first[1]), resource.RLIMIT_NPROC, (bound, bound))
        os.close(self._gate)

    def status(self) -> bytes:
        """All that was reported so far."""
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._reports, 1 << 16)
            self._ended = not data
            self._text += data
        return self._text


class Tree:
    """The program and everything it starts."""

    def __init__(self, spec: dict[str, Any], stdin: int) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            spec["argv"],
            cwd=spec["cwd"],
            env=spec["env"],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(STATUS_FD, GATE_FD) if spec["isolated"] else (),
            start_new_session=True,
            preexec_fn=lambda: _confine(spec),  # safe: this process has one thread
        )

    def reap(self) -> bool:
        """Takes processes that ended; whether any process is left."""
        for _ in range(REAPED_AT_ONCE):
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.process.pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
        return True

    def kill(self, seen: Descendants) -> None:
        """Ends every process of the tree, those that left its session too."""
        give_up = time.monotonic() + CLEAN_UP_SECONDS
        while self.reap() and time.monotonic() < give_up:
            # The group first: one signal reaches all of it, however fast it forks.
            _signal(-self.process.pid)
            seen.look()
            for pid in seen.pids:
                _signal(pid)
            time.sleep(0.002)


def main() -> None:
    """One run, from the specification on stdin to the report on stdout."""
    spec = json.loads(sys.stdin.buffer.readline())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getppid() != spec["parent"]:
        return
    with contextlib.suppress(OSError):
        # A fork bomb would otherwise leave this process too little time to notice it.
        policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(1))
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    memory = os.memfd_create("stdin")
    with os.fdopen(memory, "wb", closefd=False) as file:
        file.write(sys.stdin.buffer.read())
    stdin = os.open(f"/proc/self/fd/{memory}", os.O_RDONLY)
    kills_before = out_of_memory_kills()
    bubblewrap = Bubblewrap()
    try:
        tree = Tree(spec, stdin)
    except (OSError, subprocess.SubprocessError) as error:
        _report({"error": str(error)}, b"", b"")
        return
    streams = [pipe.fileno() for pipe in (tree.process.stdout, tree.process.stderr) if pipe]
    output, seen = Output(spec["output_bytes"], *streams), Descendants()
    try:
        bubblewrap.open_gate(spec)
        broken = _watch(tree, spec, output, seen, wake_read)
        wall_seconds = time.monotonic() - tree.started
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        tree.kill(seen)
    for stream in streams:
        output.drain(stream)
    returncode = tree.process.returncode
    report = {
        "returncode": -signal.SIGKILL if returncode is None else returncode,
        "broken": "output" if output.overflow and broken is None else broken,
        "cpu_seconds": max(reaped_cpu_seconds(), seen.cpu_seconds),
        "wall_seconds": wall_seconds,
        "peak_address_space": seen.peak_address_space,
        "out_of_memory_kill": out_of_memory_kills() > kills_before,
        "status": bubblewrap.status().decode("utf-8", "replace"),
    }
    _report(report, bytes(output.kept[streams[0]]), bytes(output.kept[streams[1]]))


def _watch(
    tree: Tree, spec: dict[str, Any], output: Output, seen: Descendants, wake: int
) -> str | None:
    """Waits for the program's end or the first limit it breaks; names that limit."""
    poller = select.poll()
    for stream in (*output.open, wake):
        poller.register(stream, select.POLLIN)
    pause, deadline = FIRST_POLL, tree.started + spec["wall_seconds"]
    next_look = tree.started + pause
    while True:
        now = time.monotonic()
        for stream, _ in poller.poll(max(0.0, min(next_look, deadline) - now) * 1000):
            if stream == wake:
                os.read(wake, 4096)
                continue
            output.drain(stream)
            if stream not in output.open:
                poller.unregister(stream)
        tree.reap()
        if tree.process.returncode is not None:
            return None
        if output.overflow:
            return "output"
        now = time.monotonic()
        if now >= deadline:
            return "wall"
        if now < next_look:
            continue
        seen.look()
        pause = min(pause * 1.5, LAST_POLL)
        finished = time.monotonic()
        next_look = finished + max(pause, min((finished - now) / POLL_SHARE, LONGEST_PAUSE))
        for name, used, allowed in (
            ("processes", len(seen.pids), spec["processes"]),
            ("cpu", seen.cpu_seconds, spec["cpu_seconds"]),
            ("memory", seen.resident_bytes, spec["memory_bytes"]),
        ):
            if used > allowed:
                return name


def _confine(spec: dict[str, Any]) -> None:
    """Between fork and exec: the limits that the kernel itself enforces."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if not spec["isolated"]:
        # Bubblewrap sets it itself, and may be a set-uid program that must not have it yet.
        _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory runs out, this is killed and not the caller
    # One second above the limit of the tree: the look at the tree comes first, and can say so.
    bounds = {
        resource.RLIMIT_CPU: math.ceil(spec["cpu_seconds"]) + 1,
        resource.RLIMIT_FSIZE: spec["file_bytes"],
        resource.RLIMIT_CORE: 0,
    }
    if spec["address_space"]:
        bounds[resource.RLIMIT_AS] = spec["memory_bytes"]
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        value = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (value, value))


def _signal(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _report(report: dict[str, Any], stdout: bytes, stderr: bytes) -> None:
    head = {**report, "stdout_bytes": len(stdout)}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + stdout + stderr)
    sys.stdout.buffer.flush()
