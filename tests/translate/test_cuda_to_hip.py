"""The translator as a whole."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.interface import CompileSettings
from cass_pipeline.translate import CudaToHip
from cass_pipeline.units import SourceTree

KERNEL = "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"


def translated(text: str, path: str = "x.cu") -> SourceTree:
    return CudaToHip().translate(SourceTree({path: text}, path)).tree


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        (KERNEL, f"#include <hip/hip_runtime.h>\n{KERNEL}"),
        (f"// Licence\n\n{KERNEL}", f"// Licence\n\n#include <hip/hip_runtime.h>\n{KERNEL}"),
        (
            f"/* Licence */\n#pragma once\n{KERNEL}",
            f"/* Licence */\n#pragma once\n#include <hip/hip_runtime.h>\n{KERNEL}",
        ),
        (
            f"#include <cuda_runtime.h>\n{KERNEL}",
            f"#include <hip/hip_runtime.h>\n{KERNEL}",
        ),
        (
            f"#include <vector>\n#include <cuda.h>\n{KERNEL}",
            f"#include <vector>\n#include <hip/hip_runtime.h>\n{KERNEL}",
        ),
        (
            "#include <cooperative_groups.h>\n#include <cuda_runtime.h>\n",
            "#include <hip/hip_runtime.h>\n#include <hip/hip_cooperative_groups.h>\n"
            "#include <hip/hip_runtime.h>\n",
        ),
        ("", "#include <hip/hip_runtime.h>\n"),
        ("// only this", "#include <hip/hip_runtime.h>\n// only this"),
    ],
)
def test_the_runtime_header_is_written_out(cuda: str, hip: str) -> None:
    assert translated(cuda).main_text == hip


def test_a_local_header_before_the_runtime_header_finds_it() -> None:
    files = {"x.cu": '#include "y.h"\n#include <cuda_runtime.h>\n', "y.h": "cudaStream_t s;\n"}
    tree = CudaToHip().translate(SourceTree(files, "x.cu")).tree
    assert tree.main_text.startswith("#include <hip/hip_runtime.h>\n")
    assert tree.files["y.h"] == "hipStream_t s;\n"


@pytest.mark.parametrize(
    ("paths", "main"),
    [
        (["a/x.cu"], "a/x.hip"),
        (["x.cu", "x.hip"], "x.cu"),
        (["x.cpp"], "x.cpp"),
    ],
)
def test_the_main_files_name(paths: list[str], main: str) -> None:
    files = dict.fromkeys(paths, KERNEL)
    tree = CudaToHip().translate(SourceTree(files, paths[0], ("inc",))).tree
    assert tree.main_path == main
    assert tree.include_dirs == ("inc",)


def test_a_main_file_that_is_included_keeps_its_name() -> None:
    files = {"x.cu": f'#include "y.h"\n{KERNEL}', "y.h": '#include "x.cu"\n'}
    assert CudaToHip().translate(SourceTree(files, "x.cu")).tree.main_path == "x.cu"


def test_hip_stays_as_it_is() -> None:
    text = f"#include <hip/hip_runtime.h>\n{KERNEL}int f() {{ return __any_sync(-1, 1); }}\n"
    tree = SourceTree({"x.cu": text}, "x.cu")
    assert CudaToHip().translate(tree).tree == tree
    assert CudaToHip().translate(tree).findings == ()


def test_a_header_for_another_vendor_stays_as_it_is() -> None:
    hip = "#include <hip/hip_runtime.h>\n#define cudaFree hipFree\n"
    files = {"x.cu": f'#ifdef H\n#include "h.h"\n#endif\ncudaFree(p);\n{KERNEL}', "h.h": hip}
    tree = CudaToHip().translate(SourceTree(files, "x.cu")).tree
    assert tree.files["h.h"] == hip
    assert "hipFree(p);" in tree.main_text


def test_a_header_with_a_branch_for_hip_is_translated() -> None:
    header = "#ifdef __HIP_PLATFORM_AMD__\n#include <hip/hip_bf16.h>\n#endif\ncudaStream_t s;\n"
    files = {"x.cu": f'#include <cuda_bf16.h>\n#include "h.h"\n{KERNEL}', "h.h": header}
    tree = CudaToHip().translate(SourceTree(files, "x.cu")).tree
    assert tree.files["h.h"] == header.replace("cudaStream_t", "hipStream_t")


def test_findings_name_the_line_of_the_input() -> None:
    files = {"x.cu": f"// a\n{KERNEL}\ncudaFree(p);\ncudaNope(p);\n", "y.h": "\n\ncudaFree(p);\n"}
    found = CudaToHip().translate(SourceTree(files, "x.cu")).findings
    assert [(f.path, f.line, f.rule, str(f.severity)) for f in found] == [
        ("x.cu", 1, "file-name", "info"),
        ("x.cu", 2, "added-include", "info"),
        ("x.cu", 4, "api-name", "info"),
        ("x.cu", 5, "unknown-api", "error"),
        ("y.h", 3, "api-name", "info"),
    ]


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *(KERNEL, "cudaMalloc(&p, 1);\n", "__CUDA_ARCH__\n", "__nv_bfloat16 b;\n"),
            *("#include <cuda_bf16.h>\n", "#include <mma.h>\n", "#include <hip/hip_runtime.h>\n"),
            *("#include <device_launch_parameters.h>\n", "x.cuh", "#define A ", "cuda##x\n"),
            *("__shfl_sync(0xffffffff, a, 1);\n", "__shfl_sync(m, a, 1);\n", "__dp4a(a, b, c)\n"),
            *("cudaFuncSetAttribute(k, a, 1);\n", 'asm("trap;");\n', 'asm("foo;");\n'),
            *("cub::Sum s;\n", "namespace cub = other;\n", "cuda::std::min\n"),
            *("/*", "*/", '"', "(", "\\\n"),
        ]
    )
).map("".join)


@settings(deadline=None)
@given(st.one_of(st.text(), FRAGMENTS))
def test_any_text_translates_and_a_translation_stays(text: str) -> None:
    tree = translated(text)
    assert CudaToHip().translate(tree).tree == tree


def test_the_same_input_gives_the_same_output() -> None:
    tree = SourceTree({"x.cu": KERNEL, "y.h": "__nv_bfloat16 a; cudaNope();\n"}, "x.cu")
    assert CudaToHip().translate(tree) == CudaToHip().translate(tree)


def test_the_translator_can_be_sent_to_a_worker() -> None:
    copy = pickle.loads(pickle.dumps(CudaToHip()))
    assert copy == CudaToHip()
    assert copy.fingerprint == CudaToHip().fingerprint


PROGRAM = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cub/cub.cuh>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) \\
    printf("%s\\n", cudaGetErrorString(e)); } while (0)

__constant__ float scale;

template <int N>
__global__ void work(float* out, const float* in, __nv_bfloat16* b, __half* h, unsigned mask) {
  extern __shared__ float s[];
  using Reduce = cub::BlockReduce<float, N>;
  __shared__ typename Reduce::TempStorage storage;
  float v = in[threadIdx.x] * scale;
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(FULL, v, d);
  v += __shfl_xor_sync(mask, v, 1);
  if (__ballot_sync(FULL, v > 0) == FULL) v += 1;
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  v += cg::reduce(tile, v, cg::plus<float>());
  b[threadIdx.x] = __float2bfloat16(v) + b[0];
  h[threadIdx.x] = __hadd(h[threadIdx.x], __float2half(v));
#if __CUDA_ARCH__ >= 610
  v += __dp4a(1, 2, 3);
#endif
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  __syncwarp();
  s[threadIdx.x] = Reduce(storage).Sum(v + lane);
  out[threadIdx.x] = s[threadIdx.x];
}

int main() {
  float* p;
  const float one = 1.f;
  CHECK(cudaMalloc(&p, 4096));
  CHECK(cudaMemcpyToSymbol(scale, &one, sizeof(one)));
  CHECK(cudaFuncSetAttribute(work<128>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  work<128><<<1, 128, 512>>>(p, p, nullptr, nullptr, 3u);
  CHECK(cudaDeviceSynchronize());
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  return 0;
}
"""


def test_a_program_compiles_after_translation(amd_toolchain: LocalClangToolchain) -> None:
    translation = CudaToHip().translate(SourceTree({"x.cu": PROGRAM}, "x.cu"))
    assert not [f for f in translation.findings if f.severity == "error"]
    result = amd_toolchain.compile(translation.tree, CompileSettings(arches=("gfx1100",)))
    assert result.compilation, result.verdict.evidence
