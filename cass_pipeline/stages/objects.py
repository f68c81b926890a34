"""`cuda_objects` and `hip_objects`: both sides of each unit compiled and disassembled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.fanout import Fanout
from cass_pipeline.records import (
    COLLECTED,
    CUDA_OBJECTS,
    HIP_KERNELS,
    HIP_OBJECTS,
    Row,
    cuda_tree_of,
    hip_tree_of,
    verdict_columns,
)
from cass_pipeline.stage import Log, StageReport, Work, run_stage
from cass_pipeline.store import CorpusStore
from cass_pipeline.toolchain.interface import (
    Compilation,
    CompileResult,
    CompileSettings,
    DeviceCode,
    Toolchain,
)
from cass_pipeline.units import digest_of

BATCH_SIZE = 4
"""Small: one unit can take minutes, and a killed run loses the batches in flight."""


def update_cuda(
    store: CorpusStore, toolchain: Toolchain, settings: CompileSettings, fanout: Fanout, log: Log
) -> StageReport:
    """Compiles the CUDA side of every translated unit.

    Raises:
        ToolchainError: the toolchain does not work.
    """
    _require_vendor(toolchain, "nvidia")
    translated = set(
        store.table("hip_kernels", HIP_KERNELS).kept(["unit_id"])["unit_id"].to_pylist()
    )
    units = store.table("raw_kernels", COLLECTED)
    key_of = {unit_id: _key("cuda_objects", unit_id, toolchain, settings) for unit_id in translated}

    def load(todo: set[str]) -> Iterator[Work]:
        columns = ["unit_id", "files", "main_path", "include_dirs"]
        for row in units.rows(columns, kept_only=True):
            key = key_of.get(row["unit_id"])
            if key in todo and key is not None:
                yield Work(key, row["unit_id"], row)

    return run_stage(
        store.table("cuda_objects", CUDA_OBJECTS),
        list(key_of.values()),
        load,
        _CompileCuda(toolchain, settings),
        fanout,
        batch_size=BATCH_SIZE,
        log=log,
    )


def update_hip(
    store: CorpusStore, toolchain: Toolchain, settings: CompileSettings, fanout: Fanout, log: Log
) -> StageReport:
    """Compiles the HIP side of every translated unit.

    Raises:
        ToolchainError: the toolchain does not work.
    """
    _require_vendor(toolchain, "amd")
    kernels = store.table("hip_kernels", HIP_KERNELS)
    kept = kernels.kept(["unit_id", "hip_id"]).to_pylist()
    key_of = {
        row["unit_id"]: _key("hip_objects", row["unit_id"] + row["hip_id"], toolchain, settings)
        for row in kept
    }

    def load(todo: set[str]) -> Iterator[Work]:
        columns = ["unit_id", "hip_files", "hip_main_path", "hip_include_dirs"]
        for row in kernels.rows(columns, kept_only=True):
            key = key_of[row["unit_id"]]
            if key in todo:
                yield Work(key, row["unit_id"], row)

    return run_stage(
        store.table("hip_objects", HIP_OBJECTS),
        list(key_of.values()),
        load,
        _CompileHip(toolchain, settings),
        fanout,
        batch_size=BATCH_SIZE,
        log=log,
    )


@dataclass(frozen=True)
class _CompileCuda:
    toolchain: Toolchain
    settings: CompileSettings

    def __call__(self, row: Row) -> Row:
        result = self.toolchain.compile(cuda_tree_of(row), self.settings)
        columns = _side_columns("cuda", result, self.toolchain, self.settings)
        if compilation := result.compilation:
            columns |= {
                "sass": _listings(compilation.device),
                "cubins": _binaries(compilation.device),
                "ptx": compilation.ptx,
            }
        return columns


@dataclass(frozen=True)
class _CompileHip:
    toolchain: Toolchain
    settings: CompileSettings

    def __call__(self, row: Row) -> Row:
        result = self.toolchain.compile(hip_tree_of(row), self.settings)
        columns = _side_columns("hip", result, self.toolchain, self.settings)
        if compilation := result.compilation:
            columns |= {
                "rdna3": _listings(compilation.device),
                "code_objects": _binaries(compilation.device),
            }
        return columns


def _side_columns(
    side: str, result: CompileResult, toolchain: Toolchain, settings: CompileSettings
) -> Row:
    """The verdict, and the columns that both sides have under their own prefix."""
    columns = verdict_columns(result.verdict)
    if compilation := result.compilation:
        columns |= {
            f"{side}_host_asm": compilation.host_asm,
            f"{side}_kernels": _kernels(compilation),
            f"{side}_toolchain": toolchain.fingerprint,
            f"{side}_flags": list(compilation.flags),
            f"{side}_optimisation": settings.optimisation,
        }
    return columns


def _key(stage: str, input_id: str, toolchain: Toolchain, settings: CompileSettings) -> str:
    return digest_of(stage, input_id, toolchain.fingerprint, repr(asdict(settings)))


def _require_vendor(toolchain: Toolchain, vendor: str) -> None:
    if toolchain.vendor != vendor:
        raise ConfigurationError(f"a toolchain of {vendor} is needed, not of {toolchain.vendor}")


def _listings(device: tuple[DeviceCode, ...]) -> list[Row]:
    return [{"arch": code.arch, "listing": code.listing} for code in device]


def _binaries(device: tuple[DeviceCode, ...]) -> list[Row]:
    return [{"arch": code.arch, "binary": code.binary} for code in device]


def _kernels(compilation: Compilation) -> list[Row]:
    return [
        {"arch": code.arch, **asdict(kernel)}
        for code in compilation.device
        for kernel in code.kernels
    ]
