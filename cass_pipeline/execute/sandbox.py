"""Runs untrusted processes: compilers on scraped code, and the programs they make.

Isolation comes from bubblewrap (https://github.com/containers/bubblewrap), limits from
`cass_pipeline.execute.supervisor`. Where bubblewrap does not work only the limits are left, and
`Sandbox.isolation` says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from signal import SIGKILL, SIGXFSZ
from typing import Any, Protocol

from cass_pipeline.errors import InfrastructureError, InputError
from cass_pipeline.execute.bubblewrap import bwrap_argv

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
# Last on the path: nothing installed beside this package can stand in for the standard library.
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from cass_pipeline.execute.supervisor import main; main()"
)

TMP_FILES = 4
"""How many files of the largest size /tmp has room for, under bubblewrap."""

DISK_FULL_BYTES = 16 << 20
"""With less than this free, "No space left" is the machine's fault, not the program's."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one process tree."""

    cpu_seconds: float
    """CPU time of all processes together."""
    wall_seconds: float
    memory_bytes: int
    """Address space of each process, and private resident memory of all together."""
    file_bytes: int
    """Largest single file. With bubblewrap, all of /tmp holds `TMP_FILES` times as much."""
    processes: int = 256
    """Processes at a time."""
    output_bytes: int = 4 << 20
    """Bytes of stdout and stderr together."""
    address_space: bool = True
    """Whether the address space counts; GPU drivers reserve terabytes that they never fill."""


class LimitHit(StrEnum):
    """The limit that ended a run, or that made the program fail."""

    CPU = "cpu"
    WALL = "wall"
    MEMORY = "memory"
    FILE = "file"
    OUTPUT = "output"
    PROCESSES = "processes"


SIGNS: dict[LimitHit, tuple[bytes, ...]] = {
    LimitHit.MEMORY: (
        b"std::bad_alloc",
        b"out of memory",
        b"Out of memory",
        b"Cannot allocate memory",
        b"memory exhausted",
        b"Memory allocation failure",
        b"Allocation failed",
        b"failed to map segment",
        b"MemoryError",
    ),
    LimitHit.FILE: (b"File too large", b"File size limit exceeded", b"signal 25"),
}
"""What compilers and C libraries print when an allocation or a write was refused."""

SIGNS_WITHIN = 4096
"""Only the end of stderr is searched: a refusal ends the program, quoted code rarely does."""


@dataclass(frozen=True)
class Completed:
    """What became of a process tree."""

    returncode: int
    """Exit code, or the negative signal number. Under bubblewrap a program that itself exits
    with 128 + n, as shells do for a child killed by signal n, is not told apart from one killed."""
    stdout: bytes
    stderr: bytes
    cpu_seconds: float
    """User and system time of every process that was waited for."""
    wall_seconds: float
    limit: LimitHit | None


@dataclass(frozen=True)
class Command:
    """One program to run; the meaning of each field is in `Sandbox.run`."""

    argv: tuple[str, ...]
    work_dir: Path
    limits: Limits
    env: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[Path, ...] = ()
    stdin: bytes = b""


class Runner(Protocol):
    """Where programs run: this machine's sandbox, or a container. Picklable."""

    @property
    def isolation(self) -> str:
        """What is enforced, in one phrase, for people."""
        ...

    def run(
        self,
        argv: Sequence[str],
        *,
        work_dir: Path,
        read_only: Sequence[Path] = (),
        env: Mapping[str, str],
        limits: Limits,
        stdin: bytes = b"",
    ) -> Completed:
        """Runs one program; see `Sandbox.run`."""
        ...

    def run_many(self, commands: Sequence[Command]) -> list[Completed]:
        """Runs the commands one after another, each within its own limits; results in order."""
        ...


@dataclass(frozen=True)
class Sandbox:
    """Runs untrusted programs, each in an isolation of its own. Picklable, free of state."""

    bwrap: Path | None
    """The bubblewrap program; None runs with limits only."""
    note: str = ""
    """Why there is no bubblewrap, for `isolation`."""

    @classmethod
    def detect(cls, bwrap: Path | None = None) -> Sandbox:
        """The strongest sandbox that works here, found by trying it.

        Args:
            bwrap: the bubblewrap program; looked up on PATH where None.
        """
        found = bwrap or shutil.which("bwrap")
        if found is None:
            return cls(None, "bubblewrap is not installed")
        sandbox = cls(Path(found).absolute())
        # Generous: a busy machine must not be taken for one without bubblewrap.
        trial = Limits(cpu_seconds=9, wall_seconds=120, memory_bytes=1 << 30, file_bytes=1 << 20)
        try:
            with tempfile.TemporaryDirectory(prefix="cass-sandbox-") as folder:
                done = sandbox.run(["true"], work_dir=Path(folder), env={}, limits=trial)
        except InfrastructureError as error:
            return cls(None, str(error))
        return sandbox if done.returncode == 0 else cls(None, "a trial run of bubblewrap failed")

    @property
    def isolation(self) -> str:
        """What is enforced, in one phrase, for people."""
        limits = "time, memory, file, process and output limits"
        if self.bwrap:
            return f"bubblewrap: no network, own file system, unprivileged user; {limits}"
        reason = f" ({self.note})" if self.note else ""
        return f"{limits} only, NO isolation of files and network{reason}"

    def run(
        self,
        argv: Sequence[str],
        *,
        work_dir: Path,
        read_only: Sequence[Path] = (),
        env: Mapping[str, str],
        limits: Limits,
        stdin: bytes = b"",
    ) -> Completed:
        """Runs `argv` and everything it starts; all of it has ended when this returns.

        With bubblewrap the program has no network, sees /usr, `read_only` (each at its own path)
        and `work_dir`, and nothing else of the file system; it is uid 65534 without capabilities.
        Without bubblewrap only the limits hold: it reads and writes what the caller may. No shell
        takes part in either case. `limits.processes` is enforced by looking at the tree from time
        to time; between two looks there may be more.

        A run that failed has hit MEMORY when stderr ends in an allocator's message (`SIGNS`), or
        the address space of a process came within a tenth of the limit, or it was killed while
        the kernel killed for want of memory; FILE when SIGXFSZ ended it, or stderr says
        that a write was refused.

        Args:
            argv: the program and its arguments, passed on unchanged.
            work_dir: current directory, and the only folder that can be written besides /tmp.
            read_only: existing files and folders to show.
            env: the whole environment; PWD is added.
            limits: bounds of the process tree.
            stdin: bytes for the program's standard input.

        Raises:
            InfrastructureError: the program could not be started, or the disk is full.
            InputError: an argument or variable that no program can be given (empty argv, NUL).
        """
        if not argv or any("\0" in text for text in (*argv, *env, *env.values())):
            raise InputError("A program, its arguments and its environment cannot hold NUL bytes")
        if not work_dir.is_dir():
            raise InfrastructureError(f"{work_dir} is not a folder: create it, then try again")
        work_dir = work_dir.absolute()
        environment = {**env, "PWD": str(work_dir)}
        if self.bwrap is None:
            command, outer = list(argv), environment
        else:
            command = bwrap_argv(
                self.bwrap,
                work_dir=work_dir,
                read_only=read_only,
                env=environment,
                tmp_bytes=TMP_FILES * limits.file_bytes,
            )
            command, outer = [*command, "--", *argv], {}
        spec = {
            **asdict(limits),
            "argv": command,
            "cwd": str(work_dir),
            "env": outer,
            "isolated": self.bwrap is not None,
            "parent": os.getpid(),
        }
        report, stdout, stderr = _supervise(spec, stdin)
        message = report.get("error")
        if message is None and self.bwrap is not None and _never_started(report):
            message = stderr.decode("utf-8", "replace").strip()
        if message is not None:
            raise InfrastructureError(
                f"{argv[0]} could not be started: {message}. Check that it is installed and that "
                "its folder is among those shown to the sandbox"
            )
        returncode = report["returncode"]
        if self.bwrap is not None and 128 < returncode <= 128 + 64:
            returncode = 128 - returncode
        return Completed(
            returncode=returncode,
            stdout=stdout,
            stderr=stderr,
            cpu_seconds=report["cpu_seconds"],
            wall_seconds=report["wall_seconds"],
            limit=_limit_hit(report, returncode, stderr, limits, work_dir),
        )

    def run_many(self, commands: Sequence[Command]) -> list[Completed]:
        """Runs the commands one after another; errors as for `run`."""
        return [
            self.run(
                command.argv,
                work_dir=command.work_dir,
                read_only=command.read_only,
                env=command.env,
                limits=command.limits,
                stdin=command.stdin,
            )
            for command in commands
        ]


def _supervise(spec: dict[str, Any], stdin: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """One run of the supervisor; interrupting it ends the whole tree."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, _PACKAGE_ROOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env={},
        start_new_session=True,
    ) as process:
        try:
            answer, trouble = process.communicate(json.dumps(spec).encode() + b"\n" + stdin)
        except BaseException:
            process.terminate()
            raise
    head, _, streams = answer.partition(b"\n")
    if process.returncode != 0 or not head:
        raise InfrastructureError(
            f"The sandbox's supervisor ended with {process.returncode}: "
            f"{trouble.decode('utf-8', 'replace').strip() or 'something killed it'}"
        )
    report: dict[str, Any] = json.loads(head)
    split = report["stdout_bytes"]
    return report, streams[:split], streams[split:]


def _never_started(report: Mapping[str, Any]) -> bool:
    """Bubblewrap gives the exit code of a program that it could execute, and no other."""
    return (
        report["broken"] is None
        and report["returncode"] >= 0
        and '"exit-code"' not in report["status"]
    )


def _limit_hit(
    report: Mapping[str, Any], returncode: int, stderr: bytes, limits: Limits, work_dir: Path
) -> LimitHit | None:
    """The limit that was broken, or that explains the failure; the rule is in `Sandbox.run`."""
    if report["broken"] is not None:
        return LimitHit(report["broken"])
    if returncode == 0:
        return None
    if report["cpu_seconds"] >= limits.cpu_seconds:
        return LimitHit.CPU
    end = stderr[-SIGNS_WITHIN:]
    if b"No space left on device" in end:
        if shutil.disk_usage(work_dir).free < DISK_FULL_BYTES:
            raise InfrastructureError(f"The disk of {work_dir} is full: free some, then try again")
        return LimitHit.FILE
    if returncode == -SIGXFSZ or any(sign in end for sign in SIGNS[LimitHit.FILE]):
        return LimitHit.FILE
    close = limits.address_space and report["peak_address_space"] >= 0.9 * limits.memory_bytes
    killed = report["out_of_memory_kill"] and (returncode == -SIGKILL or b"Killed" in end)
    if close or killed or any(sign in end for sign in SIGNS[LimitHit.MEMORY]):
        return LimitHit.MEMORY
    return None
