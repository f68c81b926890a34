"""Every record that the corpus could give: two for each pair, two for each kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from cass_pipeline.model.directions import (
    ASSEMBLY_DIRECTIONS,
    SOURCE_DIRECTIONS,
    Direction,
    assembly_instruction,
    source_instruction,
)
from cass_pipeline.records import Row
from cass_pipeline.units import digest_of

KERNEL_NAME = "kernel"
"""What every listing calls its kernel: mangled names are long, and say nothing about the code."""

_PAIR_COLUMNS = [
    "pair_id",
    "unit_id",
    "cluster_id",
    "domain",
    "licence",
    "verification",
    "cuda_source",
    "hip_source",
]
_KERNEL_COLUMNS = [
    "pair_id",
    "unit_id",
    "cluster_id",
    "licence",
    "verification_level",
    "kernel",
    "hip_kernel",
    "demangled",
    "sm_arch",
    "gfx_arch",
    "sass",
    "rdna3",
]
_BLOCK_LABEL = re.compile(r"\.LBB\d+_(\d+)\b")
_ROWS_AT_ONCE = 32


@dataclass(frozen=True)
class Candidate:
    """A record before it is known whether it is used."""

    pair_id: str
    unit_id: str
    cluster_id: str
    direction: Direction
    domain: str
    licence: str
    verification_level: str
    instruction: str
    source: str
    target: str
    kernel: str = ""
    """Mangled name on the CUDA side; empty for a source file."""
    sm_arch: str = ""
    gfx_arch: str = ""

    @property
    def record_id(self) -> str:
        """Identity of the record: the pair, and what of it is translated to what."""
        place = (self.kernel, self.sm_arch, self.gfx_arch)
        return digest_of("record", self.pair_id, self.direction.name, *place)

    @property
    def texts(self) -> tuple[str, str]:
        """Hashes of both texts, the same in both directions."""
        return (
            digest_of(self.direction.source, self.source),
            digest_of(self.direction.target, self.target),
        )


def candidate_count(pairs: Sequence[Path], kernels: Sequence[Path]) -> int:
    """How many candidates the files of a corpus give; 0 where there are none."""
    units = len(SOURCE_DIRECTIONS) * _rows(pairs)
    return units + len(ASSEMBLY_DIRECTIONS) * _rows(kernels)


def candidates(pairs: Sequence[Path], kernels: Sequence[Path]) -> Iterator[Candidate]:
    """Every candidate, in the order of the files; memory holds a few at a time."""
    domains: dict[str, str] = {}
    for row in _read(pairs, _PAIR_COLUMNS):
        domains[row["pair_id"]] = row["domain"]
        yield from _of_pair(row)
    for row in _read(kernels, _KERNEL_COLUMNS):
        yield from _of_kernel(row, domains[row["pair_id"]])


def _of_pair(row: Row) -> Iterator[Candidate]:
    texts = {"cuda": row["cuda_source"], "hip": row["hip_source"]}
    for direction in SOURCE_DIRECTIONS:
        yield Candidate(
            pair_id=row["pair_id"],
            unit_id=row["unit_id"],
            cluster_id=row["cluster_id"],
            direction=direction,
            domain=row["domain"],
            licence=row["licence"],
            verification_level=row["verification"]["level"],
            instruction=source_instruction(direction),
            source=texts[direction.source],
            target=texts[direction.target],
        )


def _of_kernel(row: Row, domain: str) -> Iterator[Candidate]:
    texts = {
        "sass": _renamed(row["sass"], row["kernel"]),
        "rdna3": _BLOCK_LABEL.sub(r".L\1", _renamed(row["rdna3"], row["hip_kernel"])),
    }
    arches = row["sm_arch"], row["gfx_arch"]
    for direction in ASSEMBLY_DIRECTIONS:
        yield Candidate(
            pair_id=row["pair_id"],
            unit_id=row["unit_id"],
            cluster_id=row["cluster_id"],
            direction=direction,
            domain=domain,
            licence=row["licence"],
            verification_level=row["verification_level"],
            instruction=assembly_instruction(direction, row["demangled"], *arches),
            source=texts[direction.source],
            target=texts[direction.target],
            kernel=row["kernel"],
            sm_arch=row["sm_arch"],
            gfx_arch=row["gfx_arch"],
        )


def _renamed(listing: str, name: str) -> str:
    """The listing with its kernel under the name that all have."""
    return re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", KERNEL_NAME, listing)


def _read(files: Sequence[Path], columns: list[str]) -> Iterator[Row]:
    for path in files:
        for batch in pq.ParquetFile(path).iter_batches(_ROWS_AT_ONCE, columns=columns):
            yield from batch.to_pylist()


def _rows(files: Sequence[Path]) -> int:
    return sum(pq.ParquetFile(path).metadata.num_rows for path in files if path.exists())
