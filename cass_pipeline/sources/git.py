"""Run git on repositories that are not trusted: no hooks, no filters, no prompts, with limits."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.paths import readable
from cass_pipeline.sources.settings import FetchLimits

_SAFE = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
)
_KEPT_VARIABLES = frozenset(
    ("GIT_CONFIG_GLOBAL", "GIT_PROXY_COMMAND", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO")
)
_POLL_SECONDS = 0.2
_LONGEST_OUTPUT = 16 * 2**20


def run_git(git_dir: Path, *arguments: str, limits: FetchLimits) -> str:
    """The standard output of one git command on the bare repository `git_dir`.

    Raises:
        RejectedError: SOURCE_UNAVAILABLE if git fails or takes too long, ARCHIVE_LIMIT if the
            repository grows beyond `limits.git_bytes`.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = _started(git_dir, arguments, subprocess.DEVNULL, output, errors)
        _wait(process, git_dir, arguments[0], limits)
        if process.returncode != 0:
            evidence = f"git {arguments[0]}: {_start_of(errors)}"
            raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence)
        return _start_of(output)


@contextmanager
def git_pipe(git_dir: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A git command whose standard input and output are pipes; it is ended with the block."""
    pipe = subprocess.PIPE
    process = _started(git_dir, arguments, pipe, pipe, subprocess.DEVNULL)
    try:
        yield process
    finally:
        _end(process)
        for end in (process.stdin, process.stdout):
            if end is not None:
                end.close()


def _started(
    git_dir: Path,
    arguments: tuple[str, ...],
    stdin: int,
    stdout: int | IO[bytes],
    stderr: int | IO[bytes],
) -> subprocess.Popen[bytes]:
    # A session of its own has no terminal to prompt on, and can be killed with its children.
    return subprocess.Popen(
        ["git", *_SAFE, f"--git-dir={git_dir}", *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=_environment(),
        start_new_session=True,
    )


def _start_of(file: IO[bytes]) -> str:
    file.seek(0)
    return readable(file.read(_LONGEST_OUTPUT))


def _environment() -> dict[str, str]:
    """The caller's environment (proxies, certificates) without what redirects git."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    return kept | {
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_ASKPASS": "true",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _wait(
    process: subprocess.Popen[bytes], git_dir: Path, command: str, limits: FetchLimits
) -> None:
    deadline = time.monotonic() + limits.git_seconds
    try:
        while True:
            try:
                process.wait(_POLL_SECONDS)
                return
            except subprocess.TimeoutExpired:
                pass
            if time.monotonic() > deadline:
                evidence = f"git {command}: no end after {limits.git_seconds:g} s"
                raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence)
            if (size := _size(git_dir)) > limits.git_bytes:
                raise RejectedError(Reason.ARCHIVE_LIMIT, f"git {command}: {size} bytes so far")
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return total
