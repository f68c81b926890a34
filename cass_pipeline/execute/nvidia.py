"""A real NVIDIA GPU.

CUDA is never initialised in this process: an illegal address spoils a CUDA context for good and
an endless kernel cannot be cancelled, so each launch has a process of its own
(`cass_pipeline.execute.nvidia_worker`) that can be ended.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cass_pipeline.errors import DeviceError
from cass_pipeline.execute.device import Program, ProgramRun
from cass_pipeline.execute.launch import Launch, LaunchRun, LaunchStatus
from cass_pipeline.execute.sandbox import Completed, LimitHit, Limits, Sandbox
from cass_pipeline.units import digest_of

if TYPE_CHECKING:
    from cass_pipeline.toolchain.interface import Vendor

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]

DRIVER_VARIABLES = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
"""Variables of this process that programs inherit: without them the driver is not found."""

DESCRIBE_LIMITS = Limits(
    cpu_seconds=60, wall_seconds=120, memory_bytes=8 << 30, file_bytes=1 << 20, address_space=False
)

WORKER_FILE_BYTES, WORKER_OUTPUT_BYTES = 1 << 40, 16 << 20
"""The worker's result file is as large as the launch's buffers, which the caller chose; what a
kernel prints is bounded by the driver (1 MiB), and no concern of the caller's."""


@dataclasses.dataclass(frozen=True)
class NvidiaGpu:
    """One GPU, through the driver API. Made by `NvidiaGpu.available`."""

    ordinal: int
    """Number of the GPU among those visible to this process."""
    name: str
    arch: str
    """Its native target, e.g. `sm_90`."""
    driver_version: str
    """The CUDA version of the driver, which compiles PTX."""

    @classmethod
    def available(cls, ordinal: int = 0) -> NvidiaGpu:
        """The GPU with this number.

        Raises:
            DeviceError: there is no such GPU, no driver, or no `cuda-bindings` package.
        """
        with tempfile.TemporaryDirectory(prefix="cass-gpu-") as folder:
            done = _work(Path(folder), ["describe", str(ordinal)], DESCRIBE_LIMITS)
        facts = json.loads(done.stdout)
        return cls(ordinal, facts["name"], facts["arch"], facts["driver_version"])

    @property
    def vendor(self) -> Vendor:
        """Whose code it runs."""
        return "nvidia"

    @property
    def arches(self) -> tuple[str, ...]:
        """The native target; PTX for it or an older one runs too."""
        return (self.arch,)

    @property
    def fingerprint(self) -> str:
        """Hash over model, target and driver: two cards of one model count as one device."""
        return digest_of("nvidia", self.name, self.arch, self.driver_version)

    def run_program(self, program: Program, limits: Limits) -> ProgramRun:
        """Runs a whole program with limits only, in an empty folder of its own.

        There is no file or network isolation: the program needs the GPU's device nodes. Nor does
        its address space count, as the driver reserves far more than is ever filled.

        Raises:
            InfrastructureError: the program could not be started.
        """
        inherited = {name: os.environ[name] for name in DRIVER_VARIABLES if name in os.environ}
        with tempfile.TemporaryDirectory(prefix="cass-gpu-") as folder:
            done = Sandbox(None).run(
                [str(program.executable.absolute()), *program.args],
                work_dir=Path(folder),
                env={**inherited, **program.env},
                limits=dataclasses.replace(limits, address_space=False),
                stdin=program.stdin,
            )
        return ProgramRun(**vars(done))

    def launch(self, launch: Launch, limits: Limits) -> LaunchRun:
        """Launches one kernel in a process of its own.

        `limits.wall_seconds` and `limits.cpu_seconds` bound that process, whose start takes a
        second or so. Each buffer lies between guard bytes, so that writes next to it are a
        MEMORY_FAULT; a stray write into another buffer, and any stray read that hits mapped
        memory, go unseen.

        Raises:
            DeviceError: the GPU or its driver failed, whatever the kernel did.
        """
        with tempfile.TemporaryDirectory(prefix="cass-gpu-") as folder:
            asked, answered = Path(folder, "launch.json"), Path(folder, "run.json")
            asked.write_text(launch.to_json())
            bounds = dataclasses.replace(limits, file_bytes=WORKER_FILE_BYTES, address_space=False)
            done = _work(
                Path(folder), ["launch", str(self.ordinal), str(asked), str(answered)], bounds
            )
            if done.limit in (LimitHit.WALL, LimitHit.CPU):
                return LaunchRun(
                    LaunchStatus.TIMEOUT,
                    f"no end within the {done.limit} limit",
                    wall_seconds=done.wall_seconds,
                )
            return LaunchRun.from_json(answered.read_text())


def _work(folder: Path, args: list[str], limits: Limits) -> Completed:
    """One run of the worker; anything but success or a time limit is the device's fault."""
    paths = [str(_PACKAGE_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = Sandbox(None).run(
        [sys.executable, "-m", "cass_pipeline.execute.nvidia_worker", *args],
        work_dir=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        limits=limits,
    )
    if done.returncode != 0 and done.limit not in (LimitHit.WALL, LimitHit.CPU):
        trouble = done.stderr.decode("utf-8", "replace").strip().splitlines() or [
            f"the GPU worker ended with {done.returncode}"
        ]
        hit = f" (the worker hit its {done.limit} limit)" if done.limit else ""
        raise DeviceError(trouble[-1] + hit)
    return done
