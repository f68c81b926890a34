"""The same unit gives the same bytes, wherever it is compiled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cass_pipeline.outcomes import Outcome
from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.interface import Compilation, CompileSettings, Toolchain
from cass_pipeline.toolchain.nvidia import LocalNvccToolchain
from cass_pipeline.units import SourceTree
from tests.toolchain.programs import CUDA, HIP, PATIENT

# Internal symbols, file names in the data, and no external device symbol to name a module after.
_TEXT = """
#include "sub/where.h"
static __device__ int counter;
static __constant__ float table[3];
namespace {
__global__ void hidden(float *p, const char **name) {
  *p = table[threadIdx.x];
  *name = __FILE__;
  *(name + 1) = where();
  atomicAdd(&counter, 1);
}
}
static __global__ void internal(float *p) { p[1] = 2; }
int main() {
  hidden<<<1, 1>>>(nullptr, nullptr);
  internal<<<1, 1>>>(nullptr);
}
"""


def _tree(prefix: str) -> SourceTree:
    header = "static __device__ const char *where() { return __FILE__; }\n"
    return SourceTree({"dir/m.cu": prefix + _TEXT, "dir/sub/where.h": header}, "dir/m.cu")


def _compile(toolchain: Toolchain, tree: SourceTree, settings: CompileSettings) -> Compilation:
    result = toolchain.compile(tree, settings)
    assert result.verdict.outcome is Outcome.KEPT, result.verdict
    assert result.compilation is not None
    return result.compilation


def _no_paths(compilation: Compilation, *folders: Path) -> None:
    texts = [compilation.host_asm, compilation.ptx or "", *compilation.flags]
    texts += [code.listing + code.binary.decode("latin-1") for code in compilation.device]
    for text in texts:
        for folder in folders:
            assert str(folder) not in text


def test_cuda(nvidia_toolchain: LocalNvccToolchain, tmp_path: Path) -> None:
    (longer := tmp_path / "a longer name").mkdir()
    settings = CompileSettings(arches=("sm_80", "sm_90"), limits=PATIENT)
    first = _compile(nvidia_toolchain, _tree(""), settings)
    second = _compile(replace(nvidia_toolchain, temp_dir=longer), _tree(""), settings)
    assert first == second
    _no_paths(second, tmp_path, nvidia_toolchain.cuda)
    assert ", ".join(str(byte) for byte in b"dir/unit.cu") in (first.ptx or "")


def test_hip(amd_toolchain: LocalClangToolchain, tmp_path: Path) -> None:
    (longer := tmp_path / "a longer name").mkdir()
    tree = _tree("#include <hip/hip_runtime.h>\n")
    first = _compile(amd_toolchain, tree, HIP)
    second = _compile(replace(amd_toolchain, temp_dir=longer, precompiled=None), tree, HIP)
    assert first == second
    _no_paths(second, tmp_path, amd_toolchain.hip)
    assert "dir/sub/where.h" in first.device[0].listing


def test_device_code_of_a_kernel_does_not_depend_on_the_unit_s_name(
    nvidia_toolchain: LocalNvccToolchain,
) -> None:
    text = "__global__ void k(int *p) { *p = 1; }\n"
    one = _compile(nvidia_toolchain, SourceTree({"a.cu": text}, "a.cu"), CUDA)
    two = _compile(nvidia_toolchain, SourceTree({"b/c.cu": text}, "b/c.cu"), CUDA)
    assert one.device == two.device


def test_messages_name_the_files_of_the_tree(amd_toolchain: LocalClangToolchain) -> None:
    tree = SourceTree(
        {"src/a b/main.cu": '#include "../x.h"\n', "src/x.h": "#error mysrc/y ./src/z\n"},
        "src/a b/main.cu",
    )
    evidence = amd_toolchain.compile(tree, HIP).verdict.evidence
    assert "src/a b/../x.h:1:2: error: mysrc/y " in evidence
