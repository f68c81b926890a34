"""The protocol of every device that runs kernels and programs, real or simulated on the CPU.

`execute/` needs NumPy and the standard library only, so that it runs on a GPU machine without
the data packages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cass_pipeline.execute.launch import Launch, LaunchRun
from cass_pipeline.execute.sandbox import Completed, Limits

if TYPE_CHECKING:
    from cass_pipeline.toolchain.interface import Vendor


@dataclass(frozen=True)
class Program:
    """A whole program: an executable with its `main()`."""

    executable: Path
    args: tuple[str, ...] = ()
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    """The whole environment, but for what the device itself needs to be found."""


@dataclass(frozen=True)
class ProgramRun(Completed):
    """What became of a program."""

    counters: Mapping[str, int] | None = None
    """Dynamic counts by name, from devices that count."""


class Device(Protocol):
    """Runs code of one vendor. Implementations are picklable: workers get a copy each.

    An implementation has a constructor that raises DeviceError, with a remedy, where the device
    cannot be used.
    """

    @property
    def name(self) -> str:
        """What people call it, e.g. `NVIDIA H200`."""
        ...

    @property
    def vendor(self) -> Vendor:
        """Whose code it runs."""
        ...

    @property
    def arches(self) -> tuple[str, ...]:
        """Targets whose code objects it runs, the preferred one first, e.g. `("sm_90",)`."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash over everything about the device that may shape results."""
        ...

    def run_program(self, program: Program, limits: Limits) -> ProgramRun:
        """Runs a whole program. What it does wrong is part of the result.

        Raises:
            DeviceError: the device failed in a way that says nothing about the program.
            InfrastructureError: the program could not be started.
        """
        ...

    def launch(self, launch: Launch, limits: Limits) -> LaunchRun:
        """Launches one kernel on given buffers. What it does wrong is part of the result.

        Raises:
            DeviceError: the device failed in a way that says nothing about the kernel.
        """
        ...
