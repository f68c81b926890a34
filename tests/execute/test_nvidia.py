"""The NVIDIA device as far as it can be seen without a GPU."""

from __future__ import annotations

import pickle
import signal
from pathlib import Path
from typing import Any

import pytest

from cass_pipeline.errors import DeviceError, InfrastructureError
from cass_pipeline.execute.device import Device, Program
from cass_pipeline.execute.launch import Launch, LaunchStatus
from cass_pipeline.execute.nvidia import NvidiaGpu
from cass_pipeline.execute.nvidia_worker import STATUS_OF, CudaError, run_launch
from cass_pipeline.execute.sandbox import LimitHit, Limits

LIMITS = Limits(cpu_seconds=60, wall_seconds=120, memory_bytes=4 << 30, file_bytes=1 << 20)
CARD = NvidiaGpu(0, "Some Card", "sm_90", "13.0")


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides every GPU from the CUDA driver, if there is one."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")


def test_it_is_a_device() -> None:
    device: Device = CARD
    assert (device.vendor, device.arches) == ("nvidia", ("sm_90",))
    assert pickle.loads(pickle.dumps(device)) == device


def test_the_fingerprint_is_of_model_and_driver() -> None:
    assert CARD.fingerprint == NvidiaGpu(3, "Some Card", "sm_90", "13.0").fingerprint
    assert CARD.fingerprint != NvidiaGpu(0, "Some Card", "sm_90", "13.1").fingerprint


@pytest.mark.usefixtures("no_gpu")
def test_a_missing_gpu_is_named_with_a_remedy() -> None:
    with pytest.raises(DeviceError, match=r"nvidia-smi|cass_pipeline\[gpu\]"):
        NvidiaGpu.available()


@pytest.mark.usefixtures("no_gpu")
def test_a_launch_without_gpu_is_the_devices_fault() -> None:
    with pytest.raises(DeviceError, match=r"nvidia-smi|cass_pipeline\[gpu\]"):
        CARD.launch(Launch(b"", "k", (1, 1, 1), (1, 1, 1)), LIMITS)


class TestPrograms:
    """A program that uses no GPU shows how any program is run."""

    def test_result(self) -> None:
        program = Program(Path("/bin/sh"), ("-c", 'cat; echo "$A" >&2; exit 3'), b"in", {"A": "b"})
        run = CARD.run_program(program, LIMITS)
        assert (run.returncode, run.stdout, run.stderr) == (3, b"in", b"b\n")
        assert run.counters is None

    def test_only_what_finds_the_driver_is_inherited(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SECRET", "leaked")
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
        run = CARD.run_program(Program(Path("/usr/bin/env")), LIMITS)
        names = {line.partition(b"=")[0] for line in run.stdout.splitlines()}
        assert names == {b"CUDA_VISIBLE_DEVICES", b"PWD"}

    def test_limits_and_signals(self) -> None:
        limits = Limits(cpu_seconds=9, wall_seconds=0.5, memory_bytes=1 << 30, file_bytes=1)
        run = CARD.run_program(Program(Path("/bin/sleep"), ("60",)), limits)
        assert run.limit is LimitHit.WALL
        crash = Program(Path("/bin/sh"), ("-c", "kill -SEGV $$"))
        assert CARD.run_program(crash, LIMITS).returncode == -signal.SIGSEGV

    def test_a_program_that_is_not_there(self) -> None:
        with pytest.raises(InfrastructureError, match="could not be started"):
            CARD.run_program(Program(Path("/no/such/program")), LIMITS)


class Broken:
    """A driver whose every call fails in one way."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, call: str, *args: Any) -> Any:
        raise CudaError(self.name, call)


class TestDriverErrors:
    launch = Launch(b"", "k", (1, 1, 1), (1, 1, 1))

    def test_every_name_is_one_of_the_drivers(self) -> None:
        driver = pytest.importorskip("cuda.bindings.driver")
        assert set(STATUS_OF) <= {result.name for result in driver.CUresult}

    @pytest.mark.parametrize("name", sorted(STATUS_OF))
    def test_what_the_launch_caused_is_a_result(self, name: str) -> None:
        run = run_launch(Broken(name), self.launch)  # type: ignore[arg-type]
        assert run.status is STATUS_OF[name]
        assert run.status is not LaunchStatus.OK
        assert name in run.message

    def test_any_other_error_is_the_devices(self) -> None:
        with pytest.raises(DeviceError, match="CUDA_ERROR_ECC_UNCORRECTABLE"):
            run_launch(Broken("CUDA_ERROR_ECC_UNCORRECTABLE"), self.launch)  # type: ignore[arg-type]
