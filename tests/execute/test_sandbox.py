"""What a sandboxed program may do, what it may not, and how each limit shows."""

from __future__ import annotations

import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cass_pipeline.errors import InfrastructureError, InputError
from cass_pipeline.execute import sandbox as module
from cass_pipeline.execute.sandbox import Completed, LimitHit, Limits, Sandbox

LIMITS = Limits(cpu_seconds=30, wall_seconds=120, memory_bytes=1 << 30, file_bytes=1 << 20)
ROOT = Path(__file__).parents[2]

Shell = Callable[..., Completed]


@pytest.fixture
def shell(sandbox: Sandbox, tmp_path: Path) -> Shell:
    """Runs a shell script in either sandbox."""

    def run(script: str, *args: str, limits: Limits = LIMITS, stdin: bytes = b"") -> Completed:
        argv = ["sh", "-c", script, "sh", *args]
        return sandbox.run(argv, work_dir=tmp_path, env={}, limits=limits, stdin=stdin)

    return run


def a_nap() -> str:
    """A duration of minutes that no other process on this machine sleeps for."""
    return f"{random.uniform(500, 600):.9f}"


def sleepers(nap: str) -> list[int]:
    """Processes that have `nap` among their arguments and are not dead yet."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"sleep" in arguments[0] and nap.encode() in arguments:
            found.append(int(entry))
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class TestResult:
    def test_streams_and_exit_code(self, shell: Shell) -> None:
        done = shell("cat; echo out; echo err >&2; exit 3", stdin=b"in\n")
        assert (done.returncode, done.limit) == (3, None)
        assert (done.stdout, done.stderr) == (b"in\nout\n", b"err\n")

    def test_a_signal_is_a_negative_code(self, shell: Shell) -> None:
        assert shell("kill -SEGV $$").returncode == -signal.SIGSEGV

    def test_large_stdin_and_stdout(self, shell: Shell) -> None:
        data = os.urandom(3 << 20)
        assert shell("cat", stdin=data).stdout == data

    def test_cpu_time_of_grandchildren_counts(self, shell: Shell) -> None:
        burn = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done"
        one = shell(burn).cpu_seconds
        assert shell(f"({burn}) & ({burn}) & wait").cpu_seconds > 1.3 * one

    def test_nothing_outlives_the_run(self, shell: Shell) -> None:
        nap = a_nap()
        done = shell(f"setsid sleep {nap} & sleep {nap} & echo started")
        assert done.stdout == b"started\n"
        assert not sleepers(nap)

    def test_runs_in_parallel_do_not_mix(self, shell: Shell) -> None:
        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(lambda n: shell("echo $1; exit $1", str(n)), range(8)))
        assert [(d.stdout, d.returncode) for d in done] == [(b"%d\n" % n, n) for n in range(8)]


class TestArguments:
    @settings(
        max_examples=15,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
    def test_arguments_pass_unchanged(
        self, sandbox: Sandbox, tmp_path: Path, texts: list[str]
    ) -> None:
        argv = ["printf", "%s\\0", "first", *texts]
        done = sandbox.run(argv, work_dir=tmp_path, env={}, limits=LIMITS)
        assert done.stdout.decode().split("\0")[1:-1] == texts

    @pytest.mark.parametrize(
        "text", ["; touch pwned", "$(touch pwned)", "`touch pwned`", "-x", "a b\nc", "*", "\udcff"]
    )
    def test_no_shell_reads_them(self, sandbox: Sandbox, tmp_path: Path, text: str) -> None:
        done = sandbox.run(["printf", "%s", text], work_dir=tmp_path, env={}, limits=LIMITS)
        assert done.stdout == os.fsencode(text)
        assert not list(tmp_path.iterdir())

    def test_a_program_named_like_an_option(self, sandbox: Sandbox, tmp_path: Path) -> None:
        with pytest.raises(InfrastructureError, match="--bind could not be started"):
            sandbox.run(["--bind", "/", "/"], work_dir=tmp_path, env={}, limits=LIMITS)

    def test_nul_and_nothing_are_refused(self, sandbox: Sandbox, tmp_path: Path) -> None:
        for argv in ([], ["true", "a\0b"]):
            with pytest.raises(InputError):
                sandbox.run(argv, work_dir=tmp_path, env={}, limits=LIMITS)

    def test_the_environment_is_what_is_passed(
        self, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET", "leaked")
        done = sandbox.run(["env"], work_dir=tmp_path, env={"A": "x y\n"}, limits=LIMITS)
        assert done.stdout == f"A=x y\n\nPWD={tmp_path}\n".encode()


class TestLimits:
    def test_cpu(self, shell: Shell) -> None:
        done = shell("while :; do :; done", limits=replace(LIMITS, cpu_seconds=0.5))
        assert done.limit is LimitHit.CPU
        assert 0.5 <= done.cpu_seconds < 10

    def test_cpu_of_all_processes_together(self, shell: Shell) -> None:
        script = "for i in 1 2 3 4; do (while :; do :; done) & done; wait"
        assert shell(script, limits=replace(LIMITS, cpu_seconds=1)).limit is LimitHit.CPU

    def test_wall(self, shell: Shell) -> None:
        nap = a_nap()
        done = shell(f"sleep {nap}", limits=replace(LIMITS, wall_seconds=0.5))
        assert done.limit is LimitHit.WALL
        assert done.cpu_seconds < done.wall_seconds < 60
        assert not sleepers(nap)

    def test_output(self, shell: Shell) -> None:
        done = shell("cat /dev/zero", limits=replace(LIMITS, output_bytes=10_000))
        assert done.limit is LimitHit.OUTPUT
        assert len(done.stdout) == 10_000

    def test_output_counts_both_streams(self, shell: Shell) -> None:
        script = "head -c 6000 /dev/zero; head -c 6000 /dev/zero >&2; sleep 60"
        done = shell(script, limits=replace(LIMITS, output_bytes=10_000))
        assert done.limit is LimitHit.OUTPUT
        assert len(done.stdout) + len(done.stderr) == 10_000

    def test_file(self, shell: Shell, tmp_path: Path) -> None:
        done = shell("exec dd if=/dev/zero of=big bs=1M count=4")
        assert done.limit is LimitHit.FILE
        assert (tmp_path / "big").stat().st_size == LIMITS.file_bytes

    def test_file_where_the_program_survives_the_signal(self, shell: Shell) -> None:
        script = "trap '' XFSZ; dd if=/dev/zero of=big bs=1M count=4"
        assert shell(script).limit is LimitHit.FILE

    def test_processes(self, shell: Shell) -> None:
        nap = a_nap()
        limits = replace(LIMITS, processes=32)
        assert shell(f"while :; do sleep {nap} & done", limits=limits).limit is LimitHit.PROCESSES
        assert not sleepers(nap)

    def test_fork_bomb(self, shell: Shell) -> None:
        done = shell("bomb() { bomb | bomb & }; bomb; sleep 60")
        assert done.limit in (LimitHit.PROCESSES, LimitHit.CPU)

    def test_success_has_hit_no_limit(self, shell: Shell) -> None:
        assert shell("echo Cannot allocate memory >&2").limit is None

    def test_failure_for_another_reason_has_hit_no_limit(self, shell: Shell) -> None:
        assert shell("echo error: expected ';' >&2; exit 1").limit is None


class TestMemory:
    """Programs are Python, which needs to be shown to the sandbox."""

    def run(
        self, sandbox: Sandbox, folders: list[Path], tmp_path: Path, code: str, limits: Limits
    ) -> Completed:
        argv = [sys.executable, "-I", "-S", "-c", code]
        return sandbox.run(argv, work_dir=tmp_path, read_only=folders, env={}, limits=limits)

    def test_refused_allocation(
        self, sandbox: Sandbox, tmp_path: Path, python_folders: list[Path]
    ) -> None:
        code = "bytearray(2 << 30)"
        assert self.run(sandbox, python_folders, tmp_path, code, LIMITS).limit is LimitHit.MEMORY

    def test_crash_close_to_the_limit(
        self, sandbox: Sandbox, tmp_path: Path, python_folders: list[Path]
    ) -> None:
        code = (
            "import mmap, os, time; held = mmap.mmap(-1, 1000 << 20); "
            "time.sleep(1); os.kill(os.getpid(), 11)"
        )
        assert self.run(sandbox, python_folders, tmp_path, code, LIMITS).limit is LimitHit.MEMORY

    def test_resident_memory_where_the_address_space_does_not_count(
        self, sandbox: Sandbox, tmp_path: Path, python_folders: list[Path]
    ) -> None:
        limits = replace(LIMITS, memory_bytes=64 << 20, address_space=False)
        reserved = "import mmap; held = mmap.mmap(-1, 1 << 30); print('ok')"
        assert self.run(sandbox, python_folders, tmp_path, reserved, limits).stdout == b"ok\n"
        filled = "import time; held = b'x' * (128 << 20); time.sleep(60)"
        done = self.run(sandbox, python_folders, tmp_path, filled, limits)
        assert done.limit is LimitHit.MEMORY


class TestIsolation:
    """Only with bubblewrap."""

    def run(self, sandbox: Sandbox, work_dir: Path, script: str, *shown: Path) -> Completed:
        argv = ["sh", "-c", script]
        return sandbox.run(argv, work_dir=work_dir, read_only=shown, env={}, limits=LIMITS)

    def test_no_file_of_the_machine_is_visible(self, isolating: Sandbox, tmp_path: Path) -> None:
        assert Path("/etc/passwd").exists()
        done = self.run(isolating, tmp_path, "cat /etc/passwd")
        assert b"No such file" in done.stderr
        done = self.run(isolating, tmp_path, "ls /; ls /etc")
        listed = set(done.stdout.decode().split())
        shown = {"bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "tmp", "usr"}
        assert listed <= shown | {tmp_path.parts[1], "alternatives", "ld.so.cache"}

    def test_read_only_paths_are_shown_where_they_are(
        self, isolating: Sandbox, tmp_path: Path
    ) -> None:
        work, headers, hidden = (tmp_path / name for name in ("work", "headers", "hidden"))
        for folder in (work, headers, hidden):
            folder.mkdir()
            (folder / "file").write_text("text")
        script = f"cat {headers}/file; ls {hidden}; echo more > {headers}/file"
        done = self.run(isolating, work, script, headers)
        assert done.stdout == b"text"
        assert b"Read-only file system" in done.stderr
        assert b"No such file" in done.stderr

    def test_a_read_only_folder_inside_the_working_folder(
        self, isolating: Sandbox, tmp_path: Path
    ) -> None:
        (tmp_path / "inner").mkdir()
        done = self.run(isolating, tmp_path, "echo > inner/x || echo > y", tmp_path / "inner")
        assert done.returncode == 0
        assert (tmp_path / "y").exists()

    @pytest.mark.parametrize("folder", ["/", "/usr", "/dev", "/dev/shm", "/etc", "/usr/bin"])
    def test_nothing_else_can_be_written(
        self, isolating: Sandbox, tmp_path: Path, folder: str
    ) -> None:
        assert self.run(isolating, tmp_path, f"echo x > {folder}/cass-test").returncode != 0

    def test_tmp_is_empty_private_and_bounded(self, isolating: Sandbox, tmp_path: Path) -> None:
        private = f"/tmp/{a_nap()}"
        work = tmp_path / "work"
        work.mkdir()
        assert self.run(isolating, work, f"echo > {private}").returncode == 0
        assert not Path(private).exists()
        fill = "for i in 1 2 3 4 5 6; do head -c 1000000 /dev/zero > /tmp/$i || exit 1; done"
        assert self.run(isolating, work, fill).limit is LimitHit.FILE

    def test_unprivileged_user_without_capabilities(
        self, isolating: Sandbox, tmp_path: Path
    ) -> None:
        done = self.run(isolating, tmp_path, "id -u; grep Cap /proc/self/status")
        user, *capabilities = done.stdout.decode().splitlines()
        assert user == "65534"
        assert {line.split()[1] for line in capabilities} == {"0" * 16}

    def test_other_processes_are_not_visible(self, isolating: Sandbox, tmp_path: Path) -> None:
        done = self.run(isolating, tmp_path, f"kill -0 {os.getpid()} || ls -d /proc/[0-9]*")
        assert len(done.stdout.split()) <= 4

    def test_no_network(
        self, isolating: Sandbox, tmp_path: Path, python_folders: list[Path]
    ) -> None:
        code = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"
        with socket.create_server(("127.0.0.1", 0)) as server:
            argv = [sys.executable, "-I", "-S", "-c", code, str(server.getsockname()[1])]
            kept_in, let_out = (
                box.run(argv, work_dir=tmp_path, read_only=python_folders, env={}, limits=LIMITS)
                for box in (isolating, Sandbox(None))
            )
        assert let_out.returncode == 0
        assert b"Connection refused" in kept_in.stderr or b"unreachable" in kept_in.stderr


class TestCaller:
    @pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
    def test_no_process_outlives_the_caller(
        self, sandbox: Sandbox, tmp_path: Path, how: signal.Signals
    ) -> None:
        nap = a_nap()
        code = (
            "import pickle, sys; from pathlib import Path\n"
            "sandbox, limits, nap, folder = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
            "argv = ['sh', '-c', f'setsid sleep {nap} & sleep {nap}']\n"
            "sandbox.run(argv, work_dir=folder, env={}, limits=limits)\n"
        )
        state = pickle.dumps((sandbox, LIMITS, nap, tmp_path)).hex()
        caller = subprocess.Popen(
            [sys.executable, "-c", code, state], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        try:
            wait_for(lambda: len(sleepers(nap)) == 2)
        finally:
            caller.send_signal(how)
            caller.wait()
        wait_for(lambda: not sleepers(nap))

    def test_a_program_that_is_not_there(self, sandbox: Sandbox, tmp_path: Path) -> None:
        with pytest.raises(InfrastructureError, match="no-such-compiler could not be started"):
            sandbox.run(["no-such-compiler"], work_dir=tmp_path, env={}, limits=LIMITS)

    def test_a_program_that_fails_at_once_was_started(self, shell: Shell) -> None:
        assert shell("exit 1").returncode == 1

    def test_a_working_folder_that_is_not_there(self, sandbox: Sandbox, tmp_path: Path) -> None:
        with pytest.raises(InfrastructureError, match="is not a folder"):
            sandbox.run(["true"], work_dir=tmp_path / "none", env={}, limits=LIMITS)

    def test_a_full_disk_is_no_fault_of_the_program(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "DISK_FULL_BYTES", 1 << 62)
        with pytest.raises(InfrastructureError, match="is full"):
            shell("echo as: No space left on device >&2; exit 1")


class TestDetect:
    def test_it_says_what_is_enforced(self, isolating: Sandbox) -> None:
        assert isolating.isolation.startswith("bubblewrap: no network")

    def test_without_bubblewrap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nonexistent")
        found = Sandbox.detect()
        assert found.bwrap is None
        assert "NO isolation" in found.isolation
        assert "not installed" in found.isolation

    def test_with_something_that_does_not_work(self) -> None:
        found = Sandbox.detect(Path("/bin/false"))
        assert found.bwrap is None
        assert "NO isolation" in found.isolation

    def test_limits_only_hides_nothing(self, tmp_path: Path) -> None:
        done = Sandbox(None).run(["ls", "/"], work_dir=tmp_path, env={}, limits=LIMITS)
        assert set(done.stdout.decode().split()) >= {"etc", "usr"}

    def test_it_can_be_sent_to_workers(self, sandbox: Sandbox) -> None:
        assert pickle.loads(pickle.dumps(sandbox)) == sandbox
