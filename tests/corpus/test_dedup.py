from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cass_pipeline.corpus.dedup import VERDICTS, distinct_pairs
from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.sketches import Similarity, jaccard, sketch_pairs
from cass_pipeline.errors import ConfigurationError, InputError, StoreError

from .samples import Row, cuda_text, pair, write_pairs

LONG = "\n".join(f"x[i] = x[i] * {number}.0f + factor;" for number in range(40))
ALMOST = LONG.replace("* 7.0f", "* 7.5f")


def judged(folder: Path, engine: Engine, rows: list[Row], shards: int = 1) -> pl.DataFrame:
    """Verdicts on rows dealt out to a number of Parquet files."""
    paths = [
        write_pairs(folder / f"pairs-{shards}-{number}.parquet", rows[number::shards])
        for number in range(shards)
    ]
    return distinct_pairs(paths, Similarity(), engine)


def by_id(verdicts: pl.DataFrame) -> dict[str, Row]:
    return {row["pair_id"]: row for row in verdicts.iter_rows(named=True)}


def test_every_pair_gets_one_verdict(tmp_path: Path, engine: Engine) -> None:
    different = cuda_text("reduce", "atomicAdd(&x[0], x[i] + sqrtf(factor));")
    rows = [pair("a", cuda_text(body=LONG)), pair("b", different)]
    verdicts = judged(tmp_path, engine, rows)
    assert verdicts.to_dicts() == [
        {"pair_id": name, "cluster_id": name, "outcome": "kept", "reason": None, "evidence": None}
        for name in "ab"
    ]


def test_layout_and_comments_do_not_make_a_pair_distinct(tmp_path: Path, engine: Engine) -> None:
    text = cuda_text(body=LONG)
    verdicts = judged(tmp_path, engine, [pair("a", text), pair("b", "/* mine */\n\n" + text)])
    assert by_id(verdicts)["b"] == {
        "pair_id": "b",
        "cluster_id": "a",
        "outcome": "filtered",
        "reason": "exact_duplicate",
        "evidence": "equals a, represented by a, Jaccard 1.00",
    }


def test_a_small_change_makes_a_near_duplicate(tmp_path: Path, engine: Engine) -> None:
    rows = [pair("a", cuda_text(body=LONG)), pair("b", cuda_text(body=ALMOST))]
    verdict = by_id(judged(tmp_path, engine, rows))["b"]
    assert (verdict["reason"], verdict["cluster_id"]) == ("near_duplicate", "a")
    # One number changed: 5 of the n-grams on each side hold it.
    assert verdict["evidence"] == "represented by a, Jaccard 0.96"


def test_another_translation_of_the_same_cuda_is_a_near_duplicate(
    tmp_path: Path, engine: Engine
) -> None:
    text = cuda_text(body=LONG)
    other = pair("b", text, hip_files=[{"path": "main.hip", "text": "int quite_different;"}])
    verdict = by_id(judged(tmp_path, engine, [pair("a", text), other]))["b"]
    assert verdict["reason"] == "near_duplicate"
    assert verdict["evidence"] == "represented by a, Jaccard 1.00"


def test_units_of_one_package_share_a_header_and_stay_distinct(
    tmp_path: Path, engine: Engine
) -> None:
    header = {"path": "common.cuh", "text": cuda_text("common", LONG)}
    rows = [
        pair(name, text, cuda_files=[{"path": "main.cu", "text": text}, header])
        for name, text in (("a", cuda_text("first")), ("b", cuda_text("second", "x[0] = sinf(n);")))
    ]
    assert judged(tmp_path, engine, rows)["outcome"].to_list() == ["kept", "kept"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"level": "matched"}, {"level": "executed"}),
        ({"level": "executed"}, {"level": "compiled"}),
        ({}, {"cuda_kernels": []}),
        (
            {"findings": [{"severity": "info"}, {"severity": "info"}]},
            {"findings": [{"severity": "warning"}]},
        ),
    ],
)
def test_the_better_pair_represents_the_cluster(
    tmp_path: Path, engine: Engine, better: Row, worse: Row
) -> None:
    """Only where everything else is equal does the smaller id win."""
    rows = [pair("a", cuda_text(body=LONG), **worse), pair("b", cuda_text(body=ALMOST), **better)]
    verdicts = by_id(judged(tmp_path, engine, rows))
    assert verdicts["b"]["outcome"] == "kept"
    assert verdicts["a"]["evidence"] == "represented by b, Jaccard 0.96"
    assert verdicts["b"]["cluster_id"] == "a"


def test_similarity_is_transitive_within_a_cluster(tmp_path: Path, engine: Engine) -> None:
    rows = [pair(name, cuda_text(body=body)) for name, body in drifting(steps=8).items()]
    verdicts = judged(tmp_path, engine, rows)
    assert verdicts["cluster_id"].unique().to_list() == ["drift0"]
    assert "Jaccard 0.2" in verdicts["evidence"].to_list()[-1]


def test_verdicts_depend_on_the_set_of_pairs_alone(tmp_path: Path, engine: Engine) -> None:
    rows = mixed_rows()
    expected = judged(tmp_path / "first", engine, rows)
    assert set(expected["reason"].to_list()) == {None, "exact_duplicate", "near_duplicate"}
    for shards in (1, 2, 7):
        random.Random(shards).shuffle(rows)
        changed = replace(engine, threads=shards % 3 + 1)
        assert judged(tmp_path / "again", changed, rows, shards).equals(expected)


def test_clusters_are_those_of_comparing_all_with_all(tmp_path: Path, engine: Engine) -> None:
    rows = mixed_rows()
    sketches = tmp_path / "sketches.parquet"
    sketch_pairs(write_pairs(tmp_path / "pairs.parquet", rows), sketches, Similarity(), engine)
    sets = {row["pair_id"]: row["shingles"] for row in pl.read_parquet(sketches).to_dicts()}
    expected = {name: {name} for name in sets}
    for one, other in combinations(sets, 2):
        if jaccard(np.array(sets[one]), np.array(sets[other])) >= Similarity().threshold:
            union = expected[one] | expected[other]
            expected |= dict.fromkeys(union, union)
    verdicts = judged(tmp_path, engine, rows)
    assert dict(verdicts.select("pair_id", "cluster_id").iter_rows()) == {
        name: min(cluster) for name, cluster in expected.items()
    }


def test_many_alike_pairs_are_chained_into_one_cluster(tmp_path: Path, engine: Engine) -> None:
    """More pairs than the window share every band."""
    rows = [pair(f"{n:03}", cuda_text(body=LONG + f"x[{n}] = 0;")) for n in range(150)]
    verdicts = judged(tmp_path, engine, rows)
    assert verdicts["cluster_id"].unique().to_list() == ["000"]
    assert verdicts.filter(pl.col("outcome") == "kept").height == 1


def test_no_pairs_give_no_verdicts(tmp_path: Path, engine: Engine) -> None:
    assert judged(tmp_path, engine, []).schema == VERDICTS
    assert distinct_pairs([], Similarity(), engine).schema == VERDICTS


def test_rejects_of_earlier_stages_are_not_pairs(tmp_path: Path, engine: Engine) -> None:
    rows = [pair("a"), dict.fromkeys(pair("a"))]
    assert judged(tmp_path, engine, rows)["pair_id"].to_list() == ["a"]


def test_a_repeated_id_is_refused(tmp_path: Path, engine: Engine) -> None:
    with pytest.raises(InputError, match="'a' occurs more than once"):
        judged(tmp_path, engine, [pair("a"), pair("a")])


def test_a_pair_without_a_known_level_is_refused(tmp_path: Path, engine: Engine) -> None:
    with pytest.raises(InputError, match="'guessed' is not a verification level"):
        judged(tmp_path, engine, [pair("a", level="guessed")])


def test_a_missing_file_is_a_fault_of_the_store(tmp_path: Path, engine: Engine) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        distinct_pairs([tmp_path / "none.parquet"], Similarity(), engine)


@pytest.mark.parametrize("changed", [{"threshold": 0.0}, {"threshold": 1.1}, {"bands": 0}])
def test_senseless_settings_are_refused(changed: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        replace(Similarity(), **changed)


def drifting(steps: int) -> dict[str, str]:
    """Bodies of which each shares most lines with the next, and the ends few."""
    lines = [f"x[i] = x[i] * {number}.0f + factor;" for number in range(40 + 4 * steps)]
    return {f"drift{n}": "\n".join(lines[4 * n : 4 * n + 40]) for n in range(steps)}


def mixed_rows() -> list[Row]:
    rows = [pair(name, cuda_text(body=body)) for name, body in drifting(6).items()]
    rows += [pair(f"copy{n}", cuda_text(body=LONG) + "//" * n) for n in range(5)]
    levels = ("compiled", "executed", "matched")
    rows += [
        pair(f"family{n}", cuda_text(f"k{n % 4}", LONG + f"x[0] = {n};"), level=levels[n % 3])
        for n in range(20)
    ]
    return rows + [pair(f"own{n}", cuda_text(body=f"x[{n}] += {n};" * 3)) for n in range(10)]
