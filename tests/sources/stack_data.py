"""A small dataset in the form of The Stack v2, and the blobs that it names."""

from __future__ import annotations

import gzip
import shutil
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.sources.stack_metadata import SCHEMA
from cass_pipeline.units import sha1_sums

CARD = """\
---
configs:
- config_name: Cuda
  data_files: [{split: train, path: "data/Cuda/*.parquet"}]
- config_name: C++
  data_files: [{split: train, path: "data/C++/*.parquet"}]
---
"""
KERNEL = """\
#include "add.cuh"
__global__ void kernel_{name}(int n, int *values) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        values[i] = add(values[i], {name});
    }}
}}
"""
HEADER = "__device__ inline int add(int a, int b) { return a + b; }\n"


@dataclass
class StackDataset:
    """Rows and blobs, written out by `write`."""

    folder: Path
    blobs: dict[str, bytes] = field(default_factory=dict)
    """Packed content by id."""
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self, repository: str, path: str, text: str | bytes, config: str = "Cuda", **columns: Any
    ) -> str:
        """Lists a file, and keeps its content; returns the blob's id."""
        encoding = columns.get("src_encoding", "UTF-8")
        data = text if isinstance(text, bytes) else text.encode(encoding)
        blob_id, content_id = sha1_sums(data)
        self.blobs[blob_id] = gzip.compress(data)
        usual = {
            "blob_id": blob_id,
            "content_id": content_id,
            "path": f"/{path}",
            "repo_name": repository,
            "revision_id": "5" * 40,
            "license_type": "permissive",
            "detected_licenses": ["MIT"],
            "src_encoding": encoding,
            "is_generated": False,
            "length_bytes": len(data),
        }
        self.rows[config].append(usual | columns)
        return blob_id

    def kernels(self, count: int, first: int = 0) -> None:
        """Repositories with one kernel and one header each, the header in another config."""
        for number in range(first, first + count):
            name = f"owner/repository-{number}"
            self.add(name, f"src/kernel_{number}.cu", KERNEL.format(name=number))
            self.add(name, "include/add.cuh", HEADER + f"// {number}\n", config="C++")

    def write(self, parts: int = 2) -> Path:
        """The dataset's folder: a card, and Parquet files by configuration."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "README.md").write_text(CARD)
        for config, rows in self.rows.items():
            folder = self.folder / "data" / config
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            # A Parquet file without rows stops the `datasets` library.
            for part in range(min(parts, len(rows))):
                table = pa.Table.from_pylist(rows[part::parts], schema=SCHEMA)
                pq.write_table(table, folder / f"train-{part:05}.parquet")
        return self.folder

    def write_blobs(self, folder: Path) -> Path:
        """A copy of the bucket's content."""
        folder.mkdir(parents=True, exist_ok=True)
        for blob_id, packed in self.blobs.items():
            (folder / blob_id).write_bytes(packed)
        return folder
