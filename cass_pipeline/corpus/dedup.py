"""`distinct_pairs`: one representative for each cluster of pairs that are the same code.

Two pairs are *exact duplicates* when the compared tokens of both sides are equal
(`cass_pipeline.corpus.tokens.compared_tokens` says which files are compared, and why). They are
*near-duplicates* when the CUDA sides' token n-grams have a Jaccard index of at least the
threshold. Only the CUDA side counts there: HIP is made from it, and two translations of one CUDA
file are still one example to learn from. A cluster is a connected component of such edges, so a
pair may be less like its representative than the threshold; the evidence says how much.

The representative of a cluster is the pair with the highest verification level; among those the
one with most kernels, then with fewest doubtful findings of the translator, then with the smallest
`pair_id`. Everything depends on the set of pairs alone: not on their order, sharding or threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from cass_pipeline.corpus.clusters import Components, Shingles
from cass_pipeline.corpus.engine import Engine, batches
from cass_pipeline.corpus.sketches import Similarity, sketch_pairs
from cass_pipeline.errors import InputError
from cass_pipeline.outcomes import Outcome, Reason

if TYPE_CHECKING:
    import duckdb

VERDICTS = pl.Schema(
    {
        "pair_id": pl.String,
        "cluster_id": pl.String,
        "outcome": pl.String,
        "reason": pl.String,
        "evidence": pl.String,
    }
)
"""What is said about each pair. `cluster_id` is the smallest `pair_id` of its cluster."""

# A node is one content: exact duplicates are merged before anything is compared. Nodes are numbered
# in the order of their bands, so that neighbours in number are alike.
_NODES = """
    CREATE TABLE nodes AS
    SELECT row_number() OVER (ORDER BY bands, content) - 1 AS node, *
    FROM (SELECT content, any_value(bands) AS bands, any_value(size) AS size
          FROM sketches GROUP BY content)
"""

# A band value shared by very many pairs (licence texts, boilerplate) would give a quadratic number
# of candidates. Each member is compared to its next `window` members only, which chains them. A
# Jaccard index cannot exceed the ratio of the sizes.
_CANDIDATES = """
    WITH banded AS (
        SELECT node, unnest(bands) AS value, generate_subscripts(bands, 1) AS band FROM nodes
    ), chained AS (
        SELECT node, list(node) OVER (
            PARTITION BY band, value ORDER BY node
            ROWS BETWEEN 1 FOLLOWING AND {window} FOLLOWING) AS followers
        FROM banded
    ), candidates AS (
        SELECT DISTINCT node AS one, unnest(followers) AS other FROM chained
    )
    SELECT one, other FROM candidates
    JOIN nodes AS a ON a.node = one JOIN nodes AS b ON b.node = other
    WHERE least(a.size, b.size) >= {threshold} * greatest(a.size, b.size)
    ORDER BY one, other
"""

_SHINGLES = """
    SELECT any_value(shingles) AS shingles
    FROM sketches JOIN nodes USING (content) GROUP BY node ORDER BY node
"""

# `best` stands for the pairs of one content, `representative` for the whole cluster.
_CLUSTERED = """
    SELECT pair_id, node,
           min(pair_id) OVER (PARTITION BY component) AS cluster_id,
           first(pair_id) OVER (PARTITION BY content ORDER BY {rule}) AS best,
           first(pair_id) OVER (PARTITION BY component ORDER BY {rule}) AS representative,
           first(node) OVER (PARTITION BY component ORDER BY {rule}) AS representative_node
    FROM sketches JOIN nodes USING (content) JOIN components USING (node)
    ORDER BY pair_id
"""
_RULE = "level DESC, kernels DESC, findings, pair_id"


def distinct_pairs(paths: Sequence[Path], similarity: Similarity, engine: Engine) -> pl.DataFrame:
    """Sketches the pairs of some Parquet files and judges each (`VERDICTS`, by `pair_id`).

    Raises:
        InputError: a `pair_id` occurs twice.
    """
    with _scratch(engine) as scratch:
        folder = Path(scratch)
        sketches = [folder / f"{number:05}.parquet" for number in range(len(paths))]
        for pairs, sketch in zip(paths, sketches, strict=True):
            sketch_pairs(pairs, sketch, similarity, engine)
        return judge_sketches(sketches, similarity, engine)


def judge_sketches(
    sketches: Sequence[Path], similarity: Similarity, engine: Engine
) -> pl.DataFrame:
    """`distinct_pairs` for sketches that exist already, made with the same `similarity`.

    Raises:
        InputError: a `pair_id` occurs twice.
    """
    if not sketches:
        return VERDICTS.to_frame()
    with _scratch(engine) as folder, engine.connect() as connection:
        connection.read_parquet([str(path) for path in sketches]).create_view("sketches")
        _refuse_repeated_ids(connection)
        connection.execute(_NODES)
        stream = batches(connection, _SHINGLES)
        shingles = Shingles.stored(stream, Path(folder) / "shingles.arrow")
        components = Components(len(shingles))
        for one, other in _candidates(connection, similarity):
            # Inside one component a further edge changes nothing, so it need not be verified.
            if not components.connected(one, other) and (
                shingles.jaccard(one, other) >= similarity.threshold
            ):
                components.connect(one, other)
        return _verdicts(connection, components, shingles)


def _refuse_repeated_ids(connection: duckdb.DuckDBPyConnection) -> None:
    repeated = connection.execute(
        "SELECT pair_id FROM sketches GROUP BY pair_id HAVING count(*) > 1 ORDER BY pair_id LIMIT 1"
    ).fetchone()
    if repeated:
        raise InputError(f"pair_id {repeated[0]!r} occurs more than once among the pairs")


def _candidates(
    connection: duckdb.DuckDBPyConnection, similarity: Similarity
) -> Iterator[tuple[int, int]]:
    query = _CANDIDATES.format(window=similarity.window, threshold=similarity.threshold)
    for batch in batches(connection, query):
        yield from _rows(batch)


def _verdicts(
    connection: duckdb.DuckDBPyConnection, components: Components, shingles: Shingles
) -> pl.DataFrame:
    roots = components.roots()
    table = pl.DataFrame({"node": range(len(roots)), "component": roots}).to_arrow()
    connection.register("components", table)
    query = _CLUSTERED.format(rule=_RULE)
    return pl.DataFrame(
        [
            (pair_id, cluster_id, *_verdict(pair_id, best, chosen, shingles.jaccard(node, other)))
            for batch in batches(connection, query)
            for pair_id, node, cluster_id, best, chosen, other in _rows(batch)
        ],
        schema=VERDICTS,
        orient="row",
    )


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _verdict(
    pair_id: str, best: str, representative: str, index: float
) -> tuple[Outcome, Reason | None, str | None]:
    if pair_id == representative:
        return Outcome.KEPT, None, None
    represented = f"represented by {representative}, Jaccard {index:.2f}"
    if pair_id == best:
        return Reason.NEAR_DUPLICATE.outcome, Reason.NEAR_DUPLICATE, represented
    return Reason.EXACT_DUPLICATE.outcome, Reason.EXACT_DUPLICATE, f"equals {best}, {represented}"


def _scratch(engine: Engine) -> TemporaryDirectory[str]:
    engine.temp_directory.mkdir(parents=True, exist_ok=True)
    return TemporaryDirectory(prefix="dedup-", dir=engine.temp_directory)
