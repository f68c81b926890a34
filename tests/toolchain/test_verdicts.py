"""Every reason a compilation can fail for, provoked with the real compilers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cass_pipeline.outcomes import Outcome, Reason
from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.interface import CompileLimits, CompileResult
from cass_pipeline.toolchain.nvidia import LocalNvccToolchain
from cass_pipeline.toolchain.verdicts import sandbox_limits
from cass_pipeline.units import SourceTree
from tests.toolchain.programs import CUDA, HIP, PATIENT, unit

_HIP = "#include <hip/hip_runtime.h>\n"

REJECTED = {
    "missing_header": (Reason.MISSING_HEADER, '#include "does/not exist.h"\n'),
    "compile_error": (Reason.COMPILE_ERROR, "__global__ void k(int *p) { *p = undeclared; }\n"),
    "unresolved_symbol": (
        Reason.UNRESOLVED_SYMBOL,
        "extern __device__ int elsewhere(int);\n"
        "__global__ void k(int *p) { *p = elsewhere(*p); }\n",
    ),
    "no_device_code": (
        Reason.NO_DEVICE_CODE,
        "template <class T> __global__ void k(T *p) { *p = T(); }\nint main() {}\n",
    ),
    # Deeper than any stack, with the compilers' own depth limit out of the way.
    "time_limit": (
        Reason.TIME_LIMIT,
        "template <int n, class A, class B> struct T {\n"
        "  static constexpr long value = T<n - 1, A, T<0, A, B>>::value\n"
        "                              + T<n - 1, T<0, B, A>, B>::value;\n};\n"
        "template <class A, class B> struct T<0, A, B> { static constexpr long value = 1; };\n"
        "__global__ void k(long *p) { *p = T<40, int, float>::value; }\n",
    ),
}


def _tight(reason: Reason) -> CompileLimits:
    return replace(PATIENT, cpu_seconds=4) if reason is Reason.TIME_LIMIT else PATIENT


@pytest.mark.parametrize("name", REJECTED)
def test_cuda_rejections(name: str, nvidia_toolchain: LocalNvccToolchain) -> None:
    reason, text = REJECTED[name]
    result = nvidia_toolchain.compile(unit(text), replace(CUDA, limits=_tight(reason)))
    _check(result, reason)


@pytest.mark.parametrize("name", REJECTED)
def test_hip_rejections(name: str, amd_toolchain: LocalClangToolchain) -> None:
    reason, text = REJECTED[name]
    result = amd_toolchain.compile(unit(_HIP + text), replace(HIP, limits=_tight(reason)))
    _check(result, reason)


def _check(result: CompileResult, reason: Reason) -> None:
    assert result.verdict.reason is reason, result.verdict
    assert result.compilation is None
    evidence = result.verdict.evidence
    if reason is Reason.MISSING_HEADER:
        assert evidence.startswith("does/not exist.h\n")
    if reason is Reason.COMPILE_ERROR:
        assert "undeclared" in evidence
        assert "main.src" in evidence
    if reason is Reason.UNRESOLVED_SYMBOL:
        assert "elsewhere" in evidence.splitlines()[0]
    assert "cass-" not in evidence


def test_memory_limit(amd_toolchain: LocalClangToolchain) -> None:
    macros = "".join(f"#define M{n + 1} {f'M{n} ' * 10}\n" for n in range(9))
    text = f"{_HIP}#define M0 1,\n{macros}int big[] = {{ M9 }};\n"
    limits = replace(PATIENT, memory_bytes=700 << 20)
    result = amd_toolchain.compile(unit(text), replace(HIP, limits=limits))
    assert result.verdict.reason is Reason.MEMORY_LIMIT, result.verdict


def test_output_limit(amd_toolchain: LocalClangToolchain) -> None:
    values = "1, " * 20_000
    text = f"{_HIP}__device__ int big[] = {{{values}}};\n"
    limits = replace(PATIENT, file_bytes=64 << 10)
    without = replace(amd_toolchain, precompiled=None)
    result = without.compile(unit(text), replace(HIP, limits=limits))
    assert result.verdict.reason is Reason.OUTPUT_LIMIT, result.verdict


def _program(folder: Path, script: str) -> Path:
    program = folder / "compiler"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_crash(amd_toolchain: LocalClangToolchain, tmp_path: Path) -> None:
    crashing = replace(amd_toolchain, clang=_program(tmp_path, "kill -SEGV $$"), hip=tmp_path)
    result = replace(crashing, precompiled=None).compile(unit(_HIP), HIP)
    assert result.verdict.reason is Reason.COMPILER_CRASH, result.verdict


def test_crash_that_is_reported(amd_toolchain: LocalClangToolchain, tmp_path: Path) -> None:
    script = 'echo "PLEASE submit a bug report to x" >&2; exit 1'
    crashing = replace(amd_toolchain, clang=_program(tmp_path, script), hip=tmp_path)
    result = replace(crashing, precompiled=None).compile(unit(_HIP), HIP)
    assert result.verdict.reason is Reason.COMPILER_CRASH, result.verdict


def test_stalled(amd_toolchain: LocalClangToolchain, tmp_path: Path) -> None:
    waiting = replace(amd_toolchain, clang=_program(tmp_path, "sleep 60"), hip=tmp_path)
    limits = replace(PATIENT, wall_seconds=2)
    result = replace(waiting, precompiled=None).compile(unit(_HIP), replace(HIP, limits=limits))
    assert result.verdict.reason is Reason.STALLED, result.verdict
    assert result.verdict.outcome is Outcome.FAILED


@pytest.mark.parametrize("path", ["x" * 300 + "/a.cu", "dir/" + "y" * 256 + ".cu"])
def test_names_no_file_system_holds(path: str, amd_toolchain: LocalClangToolchain) -> None:
    result = amd_toolchain.compile(SourceTree({path: _HIP}, path), HIP)
    assert result.verdict.reason is Reason.COMPILE_ERROR
    assert "too long" in result.verdict.evidence


def test_a_file_that_is_also_a_folder(amd_toolchain: LocalClangToolchain) -> None:
    tree = SourceTree({"a": _HIP, "a/b.h": ""}, "a")
    assert amd_toolchain.compile(tree, HIP).verdict.reason is Reason.COMPILE_ERROR


def test_a_printed_artefact_has_the_bounds_of_a_file() -> None:
    """Listings of large units exceed what diagnostics may have."""
    limits = CompileLimits(file_bytes=64 << 20)
    assert sandbox_limits(limits, prints_artefact=True).output_bytes == 64 << 20
    assert sandbox_limits(limits).output_bytes < 64 << 20
