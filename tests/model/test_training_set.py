"""Records, splits and their tokenizer, from a corpus written by hand."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cass_pipeline.errors import ConfigurationError, StoreError
from cass_pipeline.ledger import read_ledger
from cass_pipeline.model.candidates import candidates
from cass_pipeline.model.extra import require
from cass_pipeline.model.selection import shared_between_splits
from cass_pipeline.model.settings import ModelSettings, SetSettings
from cass_pipeline.model.splits import Shares, split_of
from cass_pipeline.model.tokenizer import load_encoder
from cass_pipeline.records import TRAINING_SET, Row
from cass_pipeline.stage import StageReport
from cass_pipeline.stages import training_set
from cass_pipeline.stages.corpus import kernel_files, pair_files
from cass_pipeline.store import CorpusStore
from tests.model.corpora import SETTINGS, clusters, sample, three_splits, write_corpus


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    store = CorpusStore(tmp_path)
    write_corpus(store, three_splits())
    return store


def update(store: CorpusStore, settings: SetSettings = SETTINGS) -> StageReport:
    return training_set.update(store, settings, lambda line: None)


def records(store: CorpusStore) -> list[Row]:
    path = training_set.records_file(training_set.training_folder(store))
    rows: list[Row] = pq.read_table(path).to_pylist()
    return rows


def table(store: CorpusStore) -> list[Row]:
    return list(store.table("training_set", TRAINING_SET).rows())


def test_four_directions_with_what_is_known_about_them(store: CorpusStore) -> None:
    report = update(store)
    assert (report.rows_in, report.kept) == (40, 40)
    by_direction: dict[str, list[Row]] = {}
    for row in records(store):
        by_direction.setdefault(row["direction"], []).append(row)
    assert {name: len(rows) for name, rows in by_direction.items()} == dict.fromkeys(
        ("cuda_to_hip", "hip_to_cuda", "sass_to_rdna3", "rdna3_to_sass"), 10
    )
    row = by_direction["cuda_to_hip"][0]
    assert "cuda_runtime.h" in row["source"]
    assert "hip_runtime.h" in row["target"]
    assert (row["licence"], row["verification_level"]) == ("MIT", "matched")
    row = by_direction["sass_to_rdna3"][0]
    assert "for sm_80 to RDNA3 for gfx1100: scale" in row["instruction"]
    assert row["domain"] == "linear algebra"
    assert row["prompt_tokens"] > 10
    assert row["answer_tokens"] > 10


def test_listings_hold_neither_names_nor_their_place_in_the_unit(store: CorpusStore) -> None:
    update(store)
    for row in records(store):
        if row["direction"] == "sass_to_rdna3":
            assert row["source"].startswith("\t.entry kernel\nkernel:\n")
            assert row["target"].startswith("kernel:\n")
            assert ".LBB" not in row["target"]
            assert row["target"].count(".L2") == 2


def test_a_name_inside_another_stays(tmp_path: Path) -> None:
    store = CorpusStore(tmp_path)
    one, code = sample("cluster1")
    code["sass"] += f"\tCALL {code['kernel']}_slow ;\n"
    write_corpus(store, [(one, code)])
    found = list(candidates(pair_files(store), kernel_files(store)))
    assert f"CALL {code['kernel']}_slow" in found[2].source


def test_splits_go_by_cluster_and_stay(store: CorpusStore) -> None:
    update(store)
    before = {row["record_id"]: row["split"] for row in table(store)}
    assert set(before.values()) == {"train", "validation", "test"}
    more = [sample(name) for name in clusters("train", 9)[6:] + clusters("test", 4)[2:]]
    write_corpus(store, [*three_splits(), *more], key="a night later")
    update(store)
    after = {row["record_id"]: row["split"] for row in table(store)}
    assert len(after) == 60
    assert before.items() <= after.items()
    for row in table(store):
        assert row["split"] == split_of(row["cluster_id"], SETTINGS.shares)


def test_shares_are_about_what_was_asked_for() -> None:
    splits = [split_of(f"cluster{n}", Shares(0.1, 0.2)) for n in range(5_000)]
    assert 0.08 < splits.count("validation") / 5_000 < 0.12
    assert 0.18 < splits.count("test") / 5_000 < 0.22
    with pytest.raises(ConfigurationError, match="together less than 1"):
        Shares(0.5, 0.5)


def test_code_of_a_held_out_unit_is_not_trained_on(store: CorpusStore) -> None:
    """A kernel of a shared header stands in two units that are no near-duplicates."""
    rows = three_splits()
    held_out = sample(clusters("test", 1)[0])[1]
    for place in (0, 7):  # a train and a validation pair
        rows[place][1].update(sass=held_out["sass"], rdna3=held_out["rdna3"])
        rows[place][1].update(kernel=held_out["kernel"], hip_kernel=held_out["hip_kernel"])
    write_corpus(store, rows, key="shared")
    report = update(store)
    assert report.reasons == {"held_out_elsewhere": 4}
    assert report.adds_up
    shared = dict(training_set.split_values(store))
    assert [list(shared_between_splits(values)) for values in shared.values()] == [[], [], []]


def test_the_check_would_see_a_shared_text() -> None:
    rows = [("train", "a"), ("test", "b"), ("train", "b"), ("validation", "b")]
    assert list(shared_between_splits(rows)) == ["b"]


def test_the_same_kernel_twice_is_one_record(store: CorpusStore) -> None:
    rows = three_splits()
    first, second = rows[0][1], rows[1][1]
    second.update({name: first[name] for name in ("sass", "rdna3", "kernel", "hip_kernel")})
    write_corpus(store, rows, key="twice")
    assert update(store).reasons == {"duplicate_record": 2}


def test_long_records_are_filtered_with_their_length(store: CorpusStore) -> None:
    rows = three_splits()
    rows[0][1]["rdna3"] += "\tv_nop\n" * 600
    rows[1][1]["rdna3"] += "\tv_nop\n" * 60_000
    write_corpus(store, rows, key="long")
    report = update(store)
    assert report.reasons == {"too_many_tokens": 4}
    evidence = [row["evidence"] for row in table(store) if row["evidence"]]
    assert sorted({line.split(" ", 1)[1] for line in evidence}) == [
        "characters; the model reads 512 tokens",
        "tokens; the model reads 512 tokens",
    ]


def test_the_ledger_counts_the_records(store: CorpusStore) -> None:
    update(store)
    assert "training_set" not in read_ledger(store).lost
    rows = table(store)
    store.table("training_set", TRAINING_SET).replace(rows[1:], "lost one")
    assert "training_set" in read_ledger(store).lost


def test_nothing_new_costs_nothing_and_a_lost_file_is_made_again(store: CorpusStore) -> None:
    assert update(store).computed == 40
    path = training_set.records_file(training_set.training_folder(store))
    before = path.read_bytes()
    assert update(store).computed == 0
    (path.parent / "key").unlink()
    assert update(store).computed == 40
    assert path.read_bytes() == before
    longer = SetSettings(ModelSettings(max_tokens=600, vocabulary=400), SETTINGS.shares)
    assert update(store, longer).computed == 40


def test_the_tokenizer_gives_back_every_text(store: CorpusStore) -> None:
    from tokenizers import Tokenizer

    update(store)
    folder = training_set.tokenizer_folder(training_set.training_folder(store))
    encoder = load_encoder(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = [row["target"] for row in records(store)] + ["\tμ = 'Δ'\r\n  \0", ""]
    for text, ids in zip(texts, encoder.answers(texts), strict=True):
        assert ids[-1] == encoder.end_id
        assert tokenizer.decode(ids[:-1]) == text


def test_transformers_reads_the_same_tokenizer(store: CorpusStore) -> None:
    from transformers import AutoTokenizer

    update(store)
    folder = training_set.tokenizer_folder(training_set.training_folder(store))
    encoder, tokenizer = load_encoder(folder), AutoTokenizer.from_pretrained(folder)
    text = records(store)[0]["target"]
    assert tokenizer(text)["input_ids"] == encoder.answers([text])[0][:-1]
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (encoder.end_id, encoder.pad_id)


def test_without_a_corpus_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="materialize `corpus` first"):
        update(CorpusStore(tmp_path))


def test_a_corpus_without_pairs_gives_an_empty_set(store: CorpusStore) -> None:
    write_corpus(store, [], key="empty")
    report = update(store)
    assert (report.rows_in, report.rows) == (0, 0)


def test_a_missing_package_is_named_with_its_remedy() -> None:
    with pytest.raises(ConfigurationError, match=r"not installed: no_such_package.*\[train\]"):
        require(["tokenizers", "no_such_package"])
