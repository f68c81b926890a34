"""Headers: CUDA's become HIP's, the tree's own stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_pipeline.translate import CudaToHip, include_table
from cass_pipeline.translate.interface import Severity
from cass_pipeline.units import SourceTree
from tests.translate.helpers import findings_of, translate_text

NOT_INSTALLED = {"rccl/rccl.h"}


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("#include <cuda_runtime.h>\n", "#include <hip/hip_runtime.h>\n"),
        ('#include "cuda_runtime.h"\n', '#include "hip/hip_runtime.h"\n'),
        ("#  include <cuda_fp16.h> // half\n", "#  include <hip/hip_fp16.h> // half\n"),
        ("#include <cub/block/block_reduce.cuh>\n", "#include <hipcub/hipcub.hpp>\n"),
        ("#include <cublas_v2.h>\n", "#include <hipblas/hipblas.h>\n"),
        ("#include <curand_kernel.h>\n", "#include <hiprand/hiprand_kernel.h>\n"),
        ("#include <cuda/std/limits>\n", "#include <limits>\n"),
        ("#include <device_launch_parameters.h>\nint x;\n", "\nint x;\n"),
        ("#include <device_launch_parameters.h> // why\n", " // why\n"),
        ("#include <thrust/sort.h>\n", "#include <thrust/sort.h>\n"),
        ("#include <cooperative_groups/reduce.h>\n", "#include <cooperative_groups/reduce.h>\n"),
        ("#include <vector>\n", "#include <vector>\n"),
        ("// #include <cuda.h>\n", "// #include <cuda.h>\n"),
    ],
)
def test_includes(cuda: str, hip: str) -> None:
    assert translate_text(cuda) == hip


@pytest.mark.parametrize("name", ["mma.h", "cuda/atomic", "cudnn.h", "helper_cuda.h"])
def test_headers_without_a_counterpart_are_reported_and_left(name: str) -> None:
    text = f"\n#include <{name}>\n"
    assert translate_text(text) == text
    (finding,) = findings_of(text)
    assert (finding.line, finding.rule, finding.severity) == (2, "include", Severity.ERROR)


def test_every_hip_header_of_the_table_is_installed(rocm_include: Path) -> None:
    headers = {*include_table.HEADERS.values(), *(header for _, header in include_table.RULES)}
    missing = {h for h in headers if "\\" not in h and not (rocm_include / h).exists()}
    assert missing == NOT_INSTALLED


def test_a_local_header_of_a_cuda_name_stays() -> None:
    tree = SourceTree({"a/x.cu": '#include "cuda.h"\n', "a/cuda.h": "\n"}, "a/x.cu")
    assert '#include "cuda.h"\n' in CudaToHip().translate(tree).tree.main_text


def test_a_header_does_not_mean_itself() -> None:
    files = {"x.cu": '#include "v/cuda.h"\n', "v/cuda.h": "#include <cuda.h>\n"}
    translated = CudaToHip().translate(SourceTree(files, "x.cu", ("v",))).tree
    assert translated.files["v/cuda.h"] == "#include <hip/hip_runtime.h>\n"
