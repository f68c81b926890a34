"""Real programs of each header family compile on both sides, with consistent artefacts."""

from __future__ import annotations

import pytest

from cass_pipeline.assembly import rdna3, sass
from cass_pipeline.outcomes import Outcome
from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.interface import CompileResult, CompileSettings, DeviceCode
from cass_pipeline.toolchain.nvidia import LocalNvccToolchain
from tests.toolchain.programs import (
    CUDA,
    CUDA_FAMILIES,
    HIP,
    HIP_FAMILIES,
    PATIENT,
    SAXPY_CUDA,
    SAXPY_HIP,
    unit,
)


def _code(result: CompileResult) -> DeviceCode:
    assert result.verdict.outcome is Outcome.KEPT, result.verdict.evidence
    assert result.compilation is not None
    return result.compilation.device[0]


@pytest.mark.parametrize("family", CUDA_FAMILIES)
def test_cuda_family(family: str, nvidia_toolchain: LocalNvccToolchain) -> None:
    code = _code(nvidia_toolchain.compile(unit(CUDA_FAMILIES[family]), CUDA))
    assert code.kernels
    for kernel in code.kernels:
        assert kernel.registers > 0
        assert kernel.instructions == len(sass.instructions(sass.split(code.listing)[kernel.name]))


@pytest.mark.parametrize("family", HIP_FAMILIES)
def test_hip_family(family: str, amd_toolchain: LocalClangToolchain) -> None:
    code = _code(amd_toolchain.compile(unit(HIP_FAMILIES[family]), HIP))
    assert code.kernels
    for kernel in code.kernels:
        body = rdna3.split(code.listing)[kernel.name]
        assert kernel.instructions == len(rdna3.instructions(body)) > 0


def test_cuda_artefacts(nvidia_toolchain: LocalNvccToolchain) -> None:
    settings = CompileSettings(arches=("sm_80", "sm_90"), limits=PATIENT)
    result = nvidia_toolchain.compile(unit(SAXPY_CUDA), settings)
    assert result.compilation is not None, result.verdict.evidence
    both = result.compilation
    assert [code.arch for code in both.device] == ["sm_80", "sm_90"]
    assert all(code.binary.startswith(b"\x7fELF") for code in both.device)
    assert both.device[0].binary != both.device[1].binary
    assert both.ptx is not None
    assert ".target sm_80" in both.ptx
    assert ".visible .entry _Z5saxpyfPKfPfi" in both.ptx
    assert "main:" in both.host_asm
    assert ".nv_fatbin" not in both.host_asm
    kernel = both.device[0].kernels[0]
    assert (kernel.name, kernel.demangled) == (
        "_Z5saxpyfPKfPfi",
        "saxpy(float, float const*, float*, int)",
    )
    assert kernel.scalar_registers == kernel.shared_bytes == kernel.spilled == 0


def test_hip_artefacts(amd_toolchain: LocalClangToolchain) -> None:
    result = amd_toolchain.compile(unit(SAXPY_HIP), HIP)
    assert result.compilation is not None, result.verdict.evidence
    code = result.compilation.device[0]
    assert code.binary.startswith(b"\x7fELF")
    assert result.compilation.ptx is None
    assert "main:" in result.compilation.host_asm
    kernel = code.kernels[0]
    assert kernel.demangled == "saxpy(float, float const*, float*, int)"
    assert kernel.scalar_registers > 0


def test_resources_of_a_spilling_kernel(
    nvidia_toolchain: LocalNvccToolchain, amd_toolchain: LocalClangToolchain
) -> None:
    text = """
        #ifdef __HIP__
        #include <hip/hip_runtime.h>
        #endif
        __global__ void __launch_bounds__(1024) k(float *p, int n) {
          __shared__ float tile[512];
          float v[256];
          for (int i = 0; i < 256; ++i) v[i] = p[threadIdx.x + 1024 * i];
          tile[threadIdx.x & 511] = v[n & 255];
          __syncthreads();
          for (int r = 0; r < n; ++r)
            for (int i = 0; i < 256; ++i) v[i] = v[i] * v[(i * 7 + 1) & 255] + tile[i];
          for (int i = 0; i < 256; ++i) p[threadIdx.x + 1024 * i] = v[i];
        }
    """
    nvidia = _code(nvidia_toolchain.compile(unit(text), CUDA)).kernels[0]
    amd = _code(amd_toolchain.compile(unit(text), HIP)).kernels[0]
    assert nvidia.shared_bytes == amd.shared_bytes == 2048
    assert nvidia.stack_bytes > 0
    assert amd.stack_bytes > 0
