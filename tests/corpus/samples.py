"""Small pairs and kernels with every published column filled in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.records import PUBLISHED_KERNELS, PUBLISHED_PAIRS

Row = dict[str, Any]

VERIFICATION: Row = {
    "level": "matched",
    "cuda_device": "ptx-cpu",
    "hip_device": "rdna3-cpu",
    "seeds": [1, 2],
    "inputs": "2 arrays of 1024 floats",
    "tolerance": 1e-5,
    "max_abs_error": 0.0,
    "max_rel_error": 0.0,
    "cuda_instructions": 4096,
    "hip_instructions": 2048,
    "deterministic": True,
}
RESOURCES: Row = {
    "registers": 12,
    "scalar_registers": 0,
    "shared_bytes": 0,
    "stack_bytes": 0,
    "spilled": 0,
    "instructions": 20,
}


def cuda_text(name: str = "scale", body: str = "x[i] *= factor;") -> str:
    """A complete CUDA file with one kernel."""
    return f"""// {name}
#include <cuda_runtime.h>
__global__ void {name}(float *x, float factor, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{ {body} }}
}}
"""


def pair(pair_id: str, cuda: str | None = None, **changed: Any) -> Row:
    """A matched pair; `changed` replaces columns, `level` the level alone."""
    cuda = cuda_text() if cuda is None else cuda
    hip = cuda.replace("cuda_runtime.h", "hip/hip_runtime.h")
    verification = VERIFICATION | {"level": changed.pop("level", "matched")}
    kernel = {"name": "_Z5scalePffi", "demangled": "scale(float*, float, int)", **RESOURCES}
    row: Row = {
        "pair_id": pair_id,
        "unit_id": f"unit-{pair_id}",
        "domain": "linear algebra",
        "source": "sdist",
        "source_name": "vectors",
        "source_revision": "1.0",
        "source_path": f"src/{pair_id}.cu",
        "licence": "MIT",
        "licence_evidence": ["LICENSE: MIT"],
        "cuda_source": cuda,
        "hip_source": hip,
        "cuda_files": [{"path": "main.cu", "text": cuda}],
        "cuda_main_path": "main.cu",
        "hip_files": [{"path": "main.hip", "text": hip}],
        "hip_main_path": "main.hip",
        "include_dirs": ["."],
        "sass": [{"arch": "sm_80", "listing": "EXIT ;"}],
        "rdna3": [{"arch": "gfx1100", "listing": "s_endpgm"}],
        "ptx": ".version 8.0",
        "cuda_host_asm": "ret",
        "hip_host_asm": "ret",
        "cuda_kernels": [{"arch": "sm_80", **kernel}],
        "hip_kernels": [{"arch": "gfx1100", **kernel}],
        "kernels": [{"cuda": kernel["name"], "hip": kernel["name"]}],
        "translator": "rules-1",
        "findings": [],
        "cuda_toolchain": "nvcc-13",
        "hip_toolchain": "clang-19",
        "cuda_flags": ["-O3"],
        "hip_flags": ["-O3"],
        "optimisation": "O3",
        "verification": verification,
        "code_tokens": 90,
        "cluster_id": pair_id,
    }
    return row | changed


def kernel(pair_id: str, name: str = "_Z5scalePffi", **changed: Any) -> Row:
    """A kernel of a matched pair; `changed` replaces columns."""
    row: Row = {
        "pair_id": pair_id,
        "unit_id": f"unit-{pair_id}",
        "kernel": name,
        "hip_kernel": name,
        "demangled": "scale(float*, float, int)",
        "sm_arch": "sm_80",
        "gfx_arch": "gfx1100",
        "sass": "EXIT ;",
        "rdna3": "s_endpgm",
        "cuda_resources": RESOURCES,
        "hip_resources": RESOURCES,
        "licence": "MIT",
        "verification_level": "matched",
        "cluster_id": pair_id,
    }
    return row | changed


def write_pairs(path: Path, rows: Iterable[Row]) -> Path:
    """Writes rows as a unit-level table; returns `path`."""
    return _write(path, rows, PUBLISHED_PAIRS)


def write_kernels(path: Path, rows: Iterable[Row]) -> Path:
    """Writes rows as a kernel-level table; returns `path`."""
    return _write(path, rows, PUBLISHED_KERNELS)


def _write(path: Path, rows: Iterable[Row], schema: pa.Schema) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)
    return path
