"""Kernels and programs on a real NVIDIA GPU: `python -m pytest -m gpu tests/execute`.

Needs nvcc on PATH, NumPy, pytest and cuda-bindings; nothing else of this project.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cass_pipeline.execute.buffers import Given, Seeded
from cass_pipeline.execute.device import Program
from cass_pipeline.execute.launch import (
    Launch,
    LaunchRun,
    LaunchStatus,
    Pointer,
    Scalar,
    Struct,
)
from cass_pipeline.execute.nvidia import NvidiaGpu
from cass_pipeline.execute.sandbox import LimitHit, Limits

pytestmark = pytest.mark.gpu

LIMITS = Limits(cpu_seconds=120, wall_seconds=120, memory_bytes=16 << 30, file_bytes=64 << 20)

KERNELS = r"""
extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void store_at(char* out, long long at) { out[at] = 1; }
extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) {} }
extern "C" __global__ void trap() { __trap(); }
extern "C" __global__ void misaligned(char* out) { *(int*)(out + 1) = 1; }
__constant__ float scale;
__device__ int visits;
extern "C" __global__ void scaled(float* out) {
    out[threadIdx.x] *= scale;
    atomicAdd(&visits, 1);
}
extern "C" __global__ void reversed(float* out) {
    extern __shared__ float held[];
    held[threadIdx.x] = out[threadIdx.x];
    held[blockDim.x + threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}
struct View { float* data; int n; float add; };
extern "C" __global__ void by_value(View view, bool twice) {
    int i = threadIdx.x;
    if (i < view.n) view.data[i] += twice ? 2 * view.add : view.add;
}
"""

PROGRAM = r"""
#include <cstdio>
#include <cstring>
__global__ void square(int* out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }
__global__ void spin(volatile int* flag) { while (*flag == 0) {} }
int main(int argc, char** argv) {
    int* out;
    if (cudaMalloc(&out, 128) != cudaSuccess) return 9;
    cudaMemset(out, 0, 128);
    if (argc > 1 && !strcmp(argv[1], "spin")) spin<<<1, 1>>>(out);
    else square<<<1, 32>>>(out);
    int held[32];
    if (cudaMemcpy(held, out, sizeof held, cudaMemcpyDeviceToHost) != cudaSuccess) return 8;
    printf("%d %d\n", held[3], held[31]);
    return 3;
}
"""


class Built:
    """What nvcc makes of the sources above."""

    def __init__(self, nvcc: str, folder: Path, arch: str) -> None:
        self._nvcc, self._folder, self.arch = nvcc, folder, arch
        self.cubin = self.compile(KERNELS, "-cubin", arch).read_bytes()
        self.ptx = self.compile(KERNELS, "-ptx", arch).read_bytes()
        self.program = self.compile(PROGRAM, "", arch)

    def compile(self, source: str, kind: str, arch: str) -> Path:
        path, made = self._folder / "source.cu", self._folder / f"made{kind}-{arch}"
        path.write_text(source)
        options = [kind] if kind else []
        subprocess.run([self._nvcc, f"-arch={arch}", *options, "-o", made, path], check=True)
        return made


@pytest.fixture(scope="session")
def built(nvcc: str, gpu: NvidiaGpu, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(nvcc, tmp_path_factory.mktemp("built"), gpu.arch)


class Launcher:
    """Launches a kernel of the sources above on one block."""

    def __init__(self, gpu: NvidiaGpu, built: Built) -> None:
        self.gpu, self.built = gpu, built

    def __call__(
        self, kernel: str, *args: Any, threads: int = 1, limits: Limits = LIMITS, **rest: Any
    ) -> LaunchRun:
        rest = {"code": self.built.cubin, "grid": (1, 1, 1), **rest}
        return self.gpu.launch(
            Launch(kernel=kernel, block=(threads, 1, 1), args=args, **rest), limits
        )


@pytest.fixture
def launch(gpu: NvidiaGpu, built: Built) -> Launcher:
    return Launcher(gpu, built)


def numbers(*values: float) -> Given:
    return Given.of(np.array(values, np.float32))


def add_works(launch: Launcher, code: bytes) -> None:
    n = 1000
    a, b = (Seeded("float32", (n,), seed, -1, 1) for seed in (1, 2))
    run = launch(
        "add",
        *(Pointer(name) for name in "abc"),
        Scalar("int32", n),
        code=code,
        grid=(4, 1, 1),
        threads=256,
        buffers={"a": a, "b": b, "c": Given.of(np.zeros(n, np.float32))},
    )
    assert (run.status, run.message) == (LaunchStatus.OK, "")
    assert (run.outputs["c"] == a.array() + b.array()).all()
    assert (run.outputs["a"] == a.array()).all()
    assert 0 < run.wall_seconds < 10


class TestLaunch:
    def test_a_cubin(self, launch: Launcher, built: Built) -> None:
        add_works(launch, built.cubin)

    def test_ptx(self, launch: Launcher, built: Built) -> None:
        add_works(launch, built.ptx)

    def test_a_symbol_is_set_and_read_back(self, launch: Launcher) -> None:
        symbols = {
            "scale": Struct(np.float32(2.5).tobytes()),
            "visits": Struct(np.int32(40).tobytes()),
        }
        run = launch(
            "scaled", Pointer("x"), threads=2, buffers={"x": numbers(1, 2)}, symbols=symbols
        )
        assert run.outputs["x"].tolist() == [2.5, 5.0]
        assert run.symbols == {"scale": symbols["scale"].data, "visits": np.int32(42).tobytes()}

    @pytest.mark.parametrize("extra", [0, 64 << 10])
    def test_dynamic_shared_memory(self, launch: Launcher, extra: int) -> None:
        buffers = {"x": Given.of(np.arange(128, dtype=np.float32))}
        run = launch(
            "reversed", Pointer("x"), threads=128, shared_bytes=1024 + extra, buffers=buffers
        )
        assert run.status is LaunchStatus.OK, run.message
        assert run.outputs["x"].tolist() == list(range(127, -1, -1))

    def test_a_struct_by_value_with_a_pointer_inside(self, launch: Launcher) -> None:
        data = bytes(8) + np.int32(2).tobytes() + np.float32(0.5).tobytes()
        view = Struct(data, ((0, Pointer("x", offset=4)),))
        run = launch(
            "by_value", view, Scalar("bool", True), threads=32, buffers={"x": numbers(1, 2, 3, 4)}
        )
        assert run.outputs["x"].tolist() == [1, 3, 4, 4]

    def test_two_pointers_to_one_buffer(self, launch: Launcher) -> None:
        x = Pointer("x")
        run = launch("add", x, x, x, Scalar("int32", 2), threads=2, buffers={"x": numbers(1, 2)})
        assert run.outputs["x"].tolist() == [2, 4]


class TestFaults:
    def store(self, launch: Launcher, at: int) -> LaunchRun:
        buffers = {"x": Given.of(np.zeros(10, np.uint8))}
        return launch("store_at", Pointer("x"), Scalar("int64", at), buffers=buffers)

    def test_a_store_past_the_end(self, launch: Launcher) -> None:
        assert self.store(launch, 9).status is LaunchStatus.OK
        run = self.store(launch, 10)
        assert run.status is LaunchStatus.MEMORY_FAULT
        assert "'x' was overrun 0 bytes past its end" in run.message

    def test_a_store_before_the_start(self, launch: Launcher) -> None:
        run = self.store(launch, -3)
        assert run.status is LaunchStatus.MEMORY_FAULT
        assert "3 bytes before its start" in run.message

    def test_an_illegal_address_and_the_launch_after_it(self, launch: Launcher) -> None:
        run = self.store(launch, 1 << 44)
        assert run.status is LaunchStatus.MEMORY_FAULT
        assert "CUDA_ERROR_ILLEGAL_ADDRESS" in run.message
        assert not run.outputs
        assert self.store(launch, 0).status is LaunchStatus.OK

    def test_a_misaligned_store(self, launch: Launcher) -> None:
        buffers = {"x": Given.of(np.zeros(16, np.uint8))}
        run = launch("misaligned", Pointer("x"), buffers=buffers)
        assert run.status is LaunchStatus.MEMORY_FAULT

    def test_an_endless_kernel_and_the_launch_after_it(self, launch: Launcher) -> None:
        buffers = {"flag": Given.of(np.zeros(1, np.int32))}
        limits = replace(LIMITS, wall_seconds=10)
        run = launch("spin", Pointer("flag"), buffers=buffers, limits=limits)
        assert run.status is LaunchStatus.TIMEOUT
        assert self.store(launch, 0).status is LaunchStatus.OK

    def test_a_trap(self, launch: Launcher) -> None:
        assert launch("trap").status is LaunchStatus.CRASHED

    def test_a_kernel_that_is_not_there(self, launch: Launcher) -> None:
        run = launch("nothing")
        assert run.status is LaunchStatus.LAUNCH_FAILED
        assert "CUDA_ERROR_NOT_FOUND" in run.message

    def test_arguments_that_do_not_fit(self, launch: Launcher) -> None:
        run = launch("spin", Scalar("int32", 1))
        assert run.status is LaunchStatus.LAUNCH_FAILED
        assert "[4] bytes, the kernel takes [8]" in run.message

    def test_a_block_that_is_too_large(self, launch: Launcher) -> None:
        assert launch("trap", threads=4096).status is LaunchStatus.LAUNCH_FAILED

    def test_code_that_is_none(self, launch: Launcher) -> None:
        run = launch("trap", code=b"this is neither ELF nor PTX")
        assert run.status in (LaunchStatus.LAUNCH_FAILED, LaunchStatus.UNSUPPORTED)

    def test_code_for_another_arch(self, launch: Launcher, built: Built) -> None:
        other = "sm_75" if built.arch != "sm_75" else "sm_80"
        run = launch("trap", code=built.compile(KERNELS, "-cubin", other).read_bytes())
        assert run.status is LaunchStatus.UNSUPPORTED, run.message


class TestPrograms:
    def test_output_and_exit_code(self, gpu: NvidiaGpu, built: Built) -> None:
        run = gpu.run_program(Program(built.program), LIMITS)
        assert (run.returncode, run.stdout, run.limit) == (3, b"9 961\n", None)

    def test_an_endless_kernel(self, gpu: NvidiaGpu, built: Built) -> None:
        limits = replace(LIMITS, wall_seconds=10)
        run = gpu.run_program(Program(built.program, ("spin",)), limits)
        assert run.limit is LimitHit.WALL
        assert gpu.run_program(Program(built.program), LIMITS).returncode == 3


class TestDevice:
    def test_it_names_itself(self, gpu: NvidiaGpu) -> None:
        assert gpu.name
        assert "\0" not in gpu.name
        assert gpu.arch.startswith("sm_")
        assert float(gpu.driver_version) >= 12
