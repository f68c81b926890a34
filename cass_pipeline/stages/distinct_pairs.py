"""`distinct_pairs`: of pairs that are the same or nearly the same code, one is kept."""

from __future__ import annotations

from collections.abc import Iterator

from cass_pipeline.corpus.dedup import distinct_pairs
from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.sketches import Similarity
from cass_pipeline.records import DISTINCT_PAIRS, VERIFIED_PAIRS, Row
from cass_pipeline.stage import Log, StageReport, run_whole_stage
from cass_pipeline.store import CorpusStore
from cass_pipeline.units import digest_of

VERSION = "1"
"""Raised when the same pairs would be judged otherwise."""


def update(store: CorpusStore, similarity: Similarity, engine: Engine, log: Log) -> StageReport:
    """Judges every pair of `verified_pairs`; `cluster_id` says which pairs belong together."""
    pairs = store.table("verified_pairs", VERIFIED_PAIRS)
    kept = {row["pair_id"]: row for row in pairs.kept(["pair_id", "unit_id", "key"]).to_pylist()}
    content_key = digest_of(
        "distinct_pairs", VERSION, repr(similarity), *sorted(row["key"] for row in kept.values())
    )

    def compute() -> Iterator[Row]:
        for verdict in distinct_pairs(pairs.paths(), similarity, engine).iter_rows(named=True):
            unit_id = kept[verdict["pair_id"]]["unit_id"]
            key = digest_of(content_key, verdict["pair_id"])
            yield {"key": key, "unit_id": unit_id, **verdict}

    table = store.table("distinct_pairs", DISTINCT_PAIRS)
    return run_whole_stage(table, content_key, compute, len(kept), log=log)
