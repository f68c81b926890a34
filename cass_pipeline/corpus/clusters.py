"""Connected components of near-duplicates, and the sets that their edges are verified with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cass_pipeline.corpus.sketches import jaccard


class Components:
    """Union-find over numbered nodes. The root of a component is its smallest node."""

    def __init__(self, nodes: int) -> None:
        self._parents = list(range(nodes))

    def root(self, node: int) -> int:
        """The smallest node of the component that `node` is in."""
        parents = self._parents
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    def connected(self, one: int, other: int) -> bool:
        """Whether a path of edges leads from one node to the other."""
        return self.root(one) == self.root(other)

    def connect(self, one: int, other: int) -> None:
        """Adds an edge."""
        smaller, larger = sorted((self.root(one), self.root(other)))
        self._parents[larger] = smaller

    def roots(self) -> list[int]:
        """The root of each node, in node order."""
        return [self.root(node) for node in range(len(self._parents))]


class Shingles:
    """The shingle set of each node, read from a memory-mapped file.

    The sets of a large corpus exceed memory; the operating system keeps in memory what is used.
    """

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._chunks = [
            (np.asarray(chunk.offsets), np.asarray(chunk.values)) for chunk in column.chunks
        ]
        lengths = [len(chunk) for chunk in column.chunks]
        self._starts = np.cumsum([0, *lengths])

    @classmethod
    def stored(cls, batches: Iterable[pa.RecordBatch], path: Path) -> Shingles:
        """Writes batches of one list column, in node order, to an Arrow file, and maps it."""
        schema = pa.schema([("shingles", pa.list_(pa.uint32()))])
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(batch.cast(schema))
        return cls(pa.ipc.open_file(pa.memory_map(str(path))).read_all()["shingles"])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, node: int) -> npt.NDArray[np.uint32]:
        number = int(np.searchsorted(self._starts, node, side="right")) - 1
        offsets, values = self._chunks[number]
        place = node - self._starts[number]
        found: npt.NDArray[np.uint32] = values[offsets[place] : offsets[place + 1]]
        return found

    def jaccard(self, one: int, other: int) -> float:
        """Exact Jaccard index of the sets of two nodes."""
        return 1.0 if one == other else jaccard(self[one], self[other])
