"""What deduplication needs to know about each pair, a few kilobytes a pair.

A sketch depends on its own pair alone, so shards of pairs can be sketched apart (and once only);
`cass_pipeline.corpus.dedup` then compares sketches without reading any source text again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.corpus.engine import Engine, batches
from cass_pipeline.corpus.levels import rank
from cass_pipeline.corpus.tokens import compared_tokens, token_hash
from cass_pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from datasketch import MinHash

SKETCH = pa.schema(
    [
        pa.field("pair_id", pa.string(), nullable=False),
        # Hash of the compared tokens of both sides: equal for exact duplicates.
        pa.field("content", pa.string(), nullable=False),
        # Distinct token n-grams of the CUDA side as sorted 32-bit hashes, and their number.
        pa.field("shingles", pa.list_(pa.uint32()), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        # One hash for each LSH band of the MinHash signature of `shingles`.
        pa.field("bands", pa.list_(pa.uint64()), nullable=False),
        # What the choice of a representative goes by.
        pa.field("level", pa.int64(), nullable=False),
        pa.field("kernels", pa.int64(), nullable=False),
        pa.field("findings", pa.int64(), nullable=False),
    ]
)

# Findings of severity `info` say what was changed, not that something is doubtful.
_PAIRS = """
    SELECT pair_id, cuda_files, cuda_main_path, hip_files, hip_main_path,
           verification.level AS level,
           len(list_distinct([kernel.name FOR kernel IN cuda_kernels])) AS kernels,
           len([1 FOR finding IN findings IF finding.severity <> 'info']) AS findings
    FROM read_parquet(?) WHERE pair_id IS NOT NULL
"""
_BATCH_ROWS = 256
_HASHED_AT_ONCE = 1 << 16  # bounds the shingles by permutations matrix of one very long unit
_CACHED_TOKENS = 1 << 19
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, the usual multiplicative hash


@dataclass(frozen=True)
class Similarity:
    """When two pairs are near-duplicates, and how candidates are found."""

    threshold: float = 0.8
    """Exact Jaccard index of the two CUDA sides' token n-grams, from here on near-duplicate."""
    shingle_tokens: int = 5
    """Tokens of one n-gram."""
    bands: int = 20
    """LSH bands. With 6 rows each, a pair at Jaccard 0.8 becomes a candidate with 99.8%."""
    band_rows: int = 6
    """MinHash values of one band; `bands * band_rows` is the number of permutations."""
    seed: int = 1
    """Seed of the permutations."""
    window: int = 32
    """Pairs with one band value are compared to this many successors each, not all with all."""

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ConfigurationError(f"similarity threshold {self.threshold} is not in (0, 1]")
        if min(self.shingle_tokens, self.bands, self.band_rows, self.window) < 1:
            raise ConfigurationError("shingle, band and window sizes must be at least 1")


def sketch_pairs(pairs: Path, sketches: Path, similarity: Similarity, engine: Engine) -> None:
    """Writes one sketch (`SKETCH`) for each pair of a Parquet file.

    Args:
        pairs: unit-level pairs; rows without a `pair_id` are rejects and are left out.
        sketches: the Parquet file to write; it appears when it is complete.
        similarity: what a sketch has to answer; sketches of other settings cannot be compared.
        engine: limits of reading.

    Raises:
        InputError: a pair has no known verification level.
        StoreError: `pairs` cannot be read.
    """
    sketcher = _Sketcher(similarity)
    partial = sketches.with_name(f"{sketches.name}.partial")
    with engine.connect() as connection, pq.ParquetWriter(partial, SKETCH) as writer:
        for batch in batches(connection, _PAIRS, [[str(pairs)]], _BATCH_ROWS):
            rows = [sketcher.sketch(row) for row in batch.to_pylist()]
            writer.write_table(pa.Table.from_pylist(rows, schema=SKETCH))
    partial.replace(sketches)


def jaccard(one: npt.NDArray[np.uint32], other: npt.NDArray[np.uint32]) -> float:
    """Size of the intersection of two sets (sorted, distinct) over that of their union."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


class _Sketcher:
    """Makes sketches; keeps the permutations and the hashes of frequent tokens between rows."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity
        self._codes: dict[str, int] = {}

    def sketch(self, row: dict[str, Any]) -> dict[str, Any]:
        cuda = compared_tokens(_texts(row["cuda_files"]), row["cuda_main_path"])
        hip = compared_tokens(_texts(row["hip_files"]), row["hip_main_path"])
        shingles = self._shingles(cuda)
        return {
            "pair_id": row["pair_id"],
            "content": token_hash(cuda) + token_hash(hip),
            "shingles": shingles,
            "size": len(shingles),
            "bands": self._bands(shingles),
            "level": rank(row["level"]),
            "kernels": row["kernels"] or 0,
            "findings": row["findings"] or 0,
        }

    def _shingles(self, tokens: Sequence[str]) -> npt.NDArray[np.uint32]:
        """Sorted distinct n-gram hashes; text shorter than one n-gram is one shingle."""
        codes = self._token_codes(tokens)
        length = min(self._similarity.shingle_tokens, len(codes))
        hashes = np.zeros(max(len(codes) - length + 1, 1), dtype=np.uint64)
        for offset in range(length):
            hashes = hashes * _MIX + codes[offset : offset + len(hashes)]
        return np.unique(_folded(hashes))

    def _token_codes(self, tokens: Iterable[str]) -> npt.NDArray[np.uint64]:
        if len(self._codes) > _CACHED_TOKENS:
            self._codes.clear()
        codes = self._codes
        return np.array([codes.get(token) or self._code(token) for token in tokens], np.uint64)

    def _code(self, token: str) -> int:
        digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        code = self._codes[token] = int.from_bytes(digest, "little")
        return code

    def _bands(self, shingles: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
        self._minhash.clear()
        for start in range(0, len(shingles), _HASHED_AT_ONCE):
            self._minhash.update_batch(shingles[start : start + _HASHED_AT_ONCE].tolist())
        shape = (self._similarity.bands, self._similarity.band_rows)
        hashes = np.zeros(shape[0], dtype=np.uint64)
        for column in self._minhash.hashvalues.astype(np.uint64).reshape(shape).T:
            hashes = hashes * _MIX + column
            hashes ^= hashes >> np.uint64(29)
        return hashes

    @cached_property
    def _minhash(self) -> MinHash:
        from datasketch import MinHash

        return MinHash(
            num_perm=self._similarity.bands * self._similarity.band_rows,
            seed=self._similarity.seed,
            hashfunc=int,  # shingles are hashes already
            scheme="affine32",
        )


def _folded(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """64 bits to 32 that depend on all of them."""
    mixed = (hashes ^ (hashes >> np.uint64(32))) * _MIX
    folded: npt.NDArray[np.uint32] = (mixed >> np.uint64(32)).astype(np.uint32)
    return folded


def _texts(files: Iterable[dict[str, str]]) -> dict[str, str]:
    return {file["path"]: file["text"] for file in files}
