"""What every toolchain takes and gives, wherever it runs (locally or in a container)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.outcomes import Verdict
from cass_pipeline.units import SourceTree

Vendor = Literal["nvidia", "amd"]


@dataclass(frozen=True)
class CompileLimits:
    """Bounds of one compiler process tree; scraped code can be made to break any of them."""

    cpu_seconds: int = 120
    wall_seconds: int = 600
    """Backstop for a compiler that waits instead of working."""
    memory_bytes: int = 6 << 30
    file_bytes: int = 256 << 20
    """Largest single file a compiler may write."""


@dataclass(frozen=True)
class CompileSettings:
    """Settings that change the artefacts: part of the content key of every compiled row."""

    arches: tuple[str, ...]
    """Targets, e.g. `("sm_80", "sm_90")` or `("gfx1100",)`."""
    optimisation: str = "O3"
    """The one level of both vendors' device code and host code: O0 to O3."""
    standard: str = "c++17"
    limits: CompileLimits = field(default_factory=CompileLimits)

    def __post_init__(self) -> None:
        if not self.arches:
            raise ConfigurationError("arches names no target to compile for")
        if self.optimisation not in ("O0", "O1", "O2", "O3"):
            # nvcc's device compilers know no others, and both sides get the same.
            raise ConfigurationError(f"optimisation is O0 to O3, not {self.optimisation!r}")


@dataclass(frozen=True)
class KernelResources:
    """What one kernel needs on one target, as its compiler states it."""

    name: str
    """Mangled name."""
    demangled: str
    registers: int
    """Vector registers a thread: NVIDIA registers, AMD VGPRs."""
    scalar_registers: int
    """AMD SGPRs; 0 on NVIDIA."""
    shared_bytes: int
    """Static shared memory (NVIDIA) or LDS (AMD) a block."""
    stack_bytes: int
    """Local memory (NVIDIA) or scratch (AMD) a thread."""
    spilled: int
    """NVIDIA: bytes of spill stores; AMD: spilled registers (vector and scalar)."""
    instructions: int
    """Static instruction count of the normalised listing, padding not counted."""


@dataclass(frozen=True)
class DeviceCode:
    """One target's device code of a unit."""

    arch: str
    binary: bytes
    """Cubin (NVIDIA) or code object (AMD)."""
    listing: str
    """Normalised listing of that very binary, see `cass_pipeline.assembly`."""
    kernels: tuple[KernelResources, ...]


@dataclass(frozen=True)
class Compilation:
    """Everything one side of a unit compiles to."""

    device: tuple[DeviceCode, ...]
    host_asm: str
    """Host assembly text without the embedded device binary."""
    ptx: str | None
    """NVIDIA: the PTX of the same nvcc run; None on AMD."""
    flags: tuple[str, ...]
    """Compiler flags, without paths: recorded with the pair."""


@dataclass(frozen=True)
class CompileResult:
    """Verdict, and the artefacts where it is `kept`."""

    verdict: Verdict
    compilation: Compilation | None = None


class Toolchain(Protocol):
    """Compiles one side. Implementations are picklable: workers get a copy each."""

    @property
    def vendor(self) -> Vendor:
        """Which side this toolchain compiles."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash over versions and file hashes of everything that shapes the artefacts."""
        ...

    def compile(self, tree: SourceTree, settings: CompileSettings) -> CompileResult:
        """Compiles `tree`. What the code does wrong is a verdict.

        Raises:
            ToolchainError: the toolchain itself does not work.
        """
        ...
