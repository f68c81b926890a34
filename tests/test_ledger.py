"""The ledger on tables that were written by hand: it must see every row, and every lost one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_pipeline.ledger import STAGES, Ledger, read_ledger
from cass_pipeline.ledger_report import (
    funnel_png,
    funnel_table,
    markdown,
    reason_table,
    source_table,
    terminal,
)
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.records import FATES, Row, verdict_columns
from cass_pipeline.stages import stage_ledger
from cass_pipeline.store import CorpusStore

KEPT = Verdict.kept()


def put(store: CorpusStore, stage: str, rows: list[Row]) -> None:
    store.table(stage, STAGES[stage].schema).replace(rows, "key")


def row(unit: str, verdict: Verdict = KEPT, **columns: object) -> Row:
    return {"key": f"key {unit}", "unit_id": unit, **verdict_columns(verdict), **columns}


def collected(unit: str, verdict: Verdict = KEPT) -> Row:
    return row(
        unit,
        verdict,
        origin_id=f"origin {unit}",
        source="sdist",
        source_name="package",
        source_path=f"{unit}.cu",
    )


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    """Five files: one becomes a pair, four stop at a different stage each."""
    store = CorpusStore(tmp_path)
    missing = Verdict.because(Reason.MISSING_HEADER, "torch/extension.h")
    put(
        store,
        "sdist_kernels",
        [*map(collected, "abcd"), collected("e", Verdict.because(Reason.UNDECODABLE))],
    )
    put(
        store,
        "raw_kernels",
        [*map(collected, "abc"), collected("d", Verdict.because(Reason.NO_KERNEL))],
    )
    put(store, "hip_kernels", [row(unit) for unit in "abc"])
    put(store, "cuda_objects", [row("a"), row("b", missing), row("c")])
    put(store, "hip_objects", [row("a"), row("b", missing), row("c", missing)])
    hip_missing = Verdict.because(Reason.HIP_NOT_COMPILED, "missing_header")
    cuda_missing = Verdict.because(Reason.CUDA_NOT_COMPILED, "missing_header")
    put(store, "executions", [row("a"), row("b", cuda_missing), row("c", hip_missing)])
    for stage in ("verified_pairs", "distinct_pairs", "corpus"):
        put(store, stage, [row("a")])
    return store


@pytest.fixture
def ledger(store: CorpusStore) -> Ledger:
    return read_ledger(store)


def test_every_stage_adds_up(ledger: Ledger) -> None:
    assert ledger.lost == ()
    counted = {stage.stage: (stage.rows_in, stage.kept) for stage in ledger.stages}
    assert counted["sdist_kernels"] == (5, 4)
    assert counted["raw_kernels"] == (4, 3)
    assert counted["executions"] == (3, 1)
    assert counted["corpus"] == (1, 1)


def test_every_file_has_a_fate(ledger: Ledger) -> None:
    fates = {row["source_path"]: (row["last_stage"], row["reason"]) for row in ledger.fates}
    assert fates == {
        "a.cu": ("corpus", None),
        "b.cu": ("cuda_objects", "missing_header"),
        "c.cu": ("hip_objects", "missing_header"),
        "d.cu": ("raw_kernels", "no_kernel"),
        "e.cu": ("sdist_kernels", "undecodable"),
    }


def test_a_lost_row_is_seen(store: CorpusStore) -> None:
    put(store, "hip_kernels", [row(unit) for unit in "ab"])
    assert read_ledger(store).lost == ("hip_kernels", "cuda_objects", "hip_objects", "executions")


def test_a_surplus_row_is_seen(store: CorpusStore) -> None:
    put(store, "corpus", [row("a"), row("z")])
    assert read_ledger(store).lost == ("corpus",)


def test_the_yield_of_a_source_leaves_out_missing_headers(ledger: Ledger) -> None:
    (source,) = ledger.sources
    assert (source.files, source.selected, source.missing_header) == (5, 3, 2)
    assert (source.pairs, source.published) == (1, 1)
    assert source_table(ledger)[1][6] == "100%"


def test_what_was_opted_out_of_the_corpus_is_not_published(store: CorpusStore) -> None:
    put(store, "corpus", [row("a", Verdict.because(Reason.OPTED_OUT, "path"))])
    (source,) = read_ledger(store).sources
    assert (source.pairs, source.published) == (1, 0)


def test_the_fates_of_a_large_source_are_all_kept(tmp_path: Path) -> None:
    """All files of a source share its key; a table keeps the last shard's rows of a key."""
    store = CorpusStore(tmp_path)
    rows = [collected(f"{number:04}") | {"key": "source"} for number in range(1_500)]
    put(store, "sdist_kernels", [])
    table = store.table("sdist_kernels", STAGES["sdist_kernels"].schema)
    table.commit([table.write_shard(rows)])
    stage_ledger.update(store, lambda line: None)
    assert store.table("stage_ledger", FATES).row_count() == 1_500


def test_an_empty_store_has_an_empty_ledger(tmp_path: Path) -> None:
    ledger = read_ledger(CorpusStore(tmp_path))
    assert ledger.lost == ()
    assert ledger.fates == ()
    assert funnel_png(ledger).startswith(b"\x89PNG")


def test_people_get_a_table_a_picture_and_the_balance(ledger: Ledger) -> None:
    assert funnel_table(ledger)[0][:4] == ["stage", "in", "kept", "filtered"]
    assert ["raw_kernels", "no_kernel", "1", Reason.NO_KERNEL.explanation] in reason_table(ledger)
    assert markdown([["a", "b"], ["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert funnel_png(ledger).startswith(b"\x89PNG")
    assert "Every row is accounted for" in str(terminal(ledger)[-1])
