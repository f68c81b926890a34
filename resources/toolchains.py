"""The compilers of both sides."""

import os
from pathlib import Path

import dagster as dg
from platformdirs import user_cache_path
from pydantic import Field

from cass_pipeline.toolchain.interface import CompileLimits, CompileSettings, Toolchain

DEFAULT_SM = ("sm_80", "sm_90")
DEFAULT_GFX = ("gfx1100",)


class ToolchainsResource(dg.ConfigurableResource[Toolchain]):
    """nvcc from PyPI wheels, clang from Debian; both run on this machine, in a sandbox."""

    cache: str = Field(
        default="", description="Folder of headers and sources; empty is CASS_CACHE or the user's."
    )
    sm_arches: list[str] = Field(default=[*DEFAULT_SM], description="NVIDIA targets.")
    gfx_arches: list[str] = Field(default=[*DEFAULT_GFX], description="AMD targets (wave32).")
    optimisation: str = Field(
        default="O3", description="Level of device and host code, the same on both sides."
    )
    standard: str = Field(default="c++17", description="C++ standard of both sides.")
    cpu_seconds: int = Field(
        default=CompileLimits.cpu_seconds, gt=0, description="CPU time of one compiler run."
    )
    wall_seconds: int = Field(
        default=CompileLimits.wall_seconds, gt=0, description="Backstop for a compiler that hangs."
    )
    memory_mib: int = Field(
        default=CompileLimits.memory_bytes >> 20,
        gt=0,
        description="Memory of one compiler process.",
    )

    @property
    def cache_folder(self) -> Path:
        """Where headers and downloaded sources are kept between runs."""
        folder = self.cache or os.environ.get("CASS_CACHE")
        return Path(folder) if folder else user_cache_path("cass_pipeline")

    def nvidia(self) -> Toolchain:
        """The CUDA side's compiler.

        Raises:
            ToolchainError: something is missing; the message says how to get it.
        """
        from cass_pipeline.toolchain.local import local_nvidia

        return local_nvidia(self.cache_folder)

    def amd(self) -> Toolchain:
        """The HIP side's compiler.

        Raises:
            ToolchainError: something is missing; the message says how to get it.
        """
        from cass_pipeline.toolchain.local import local_amd

        return local_amd(self.cache_folder)

    def nvidia_settings(self) -> CompileSettings:
        """Targets, level and limits of the CUDA side."""
        return self._settings(self.sm_arches)

    def amd_settings(self) -> CompileSettings:
        """Targets, level and limits of the HIP side."""
        return self._settings(self.gfx_arches)

    def _settings(self, arches: list[str]) -> CompileSettings:
        return CompileSettings(
            arches=tuple(arches),
            optimisation=self.optimisation,
            standard=self.standard,
            limits=CompileLimits(
                cpu_seconds=self.cpu_seconds,
                wall_seconds=self.wall_seconds,
                memory_bytes=self.memory_mib << 20,
            ),
        )
