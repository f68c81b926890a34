"""A request that comes before, between and after the stages: nothing of the unit remains."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.errors import InputError
from cass_pipeline.fanout import SerialFanout
from cass_pipeline.ledger import read_ledger
from cass_pipeline.outcomes import Verdict
from cass_pipeline.records import (
    COLLECTED,
    DISTINCT_PAIRS,
    OPT_OUTS,
    VERIFIED_PAIRS,
    verdict_columns,
)
from cass_pipeline.sources.config import PackageSpec, RepositorySpec
from cass_pipeline.sources.opt_outs import OptOut, OptOuts
from cass_pipeline.sources.pip_settings import IndexSettings
from cass_pipeline.sources.select import Selection
from cass_pipeline.stage import StageReport
from cass_pipeline.stages import collection, raw_kernels
from cass_pipeline.stages import corpus as corpus_stage
from cass_pipeline.stages.opt_outs import refuse_opted_out
from cass_pipeline.store import CorpusStore
from tests.checkout import KERNEL
from tests.corpus.samples import pair
from tests.sources.trees import write
from tests.stages.test_collection import git

DAY = date(2026, 12, 4)
SECRET = "written by somebody who asked"


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    return CorpusStore(tmp_path / "home")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three programs; one of them and its header are somebody's who will ask."""
    folder = tmp_path / "repository"
    git("init", "--quiet", "--initial-branch=main", str(folder), cwd=tmp_path)
    theirs = f'// {SECRET}\n#include "theirs.h"\n' + KERNEL.format(number=1)
    files = {"theirs/a.cu": theirs, "theirs/theirs.h": f"// {SECRET}\n"}
    write(folder, files | {f"ours/{n}.cu": KERNEL.format(number=n) for n in (2, 3)})
    git("add", ".", cwd=folder)
    git("commit", "--quiet", "-m", "x", cwd=folder)
    return folder


def collect(store: CorpusStore, repository: Path, *entries: OptOut) -> StageReport:
    return collection.update_repositories(
        store,
        [RepositorySpec(repository.as_uri(), "main", licence="MIT")],
        store.root.parent / "cache",
        SerialFanout(),
        lambda line: None,
        OptOuts(entries),
    )


def select(store: CorpusStore, *entries: OptOut) -> StageReport:
    return raw_kernels.update(store, Selection(), lambda line: None, OptOuts(entries))


def rows(store: CorpusStore, table: str = "repository_kernels") -> dict[str, dict[str, Any]]:
    return {row["source_path"]: row for row in store.table(table, COLLECTED).rows()}


def stored(store: CorpusStore) -> Iterator[str]:
    """Every committed row of every table, and nothing else may lie in the folders."""
    for folder in sorted((store.root / "tables").iterdir()):
        table = store.table(folder.name, OPT_OUTS if folder.name == "opt_outs" else COLLECTED)
        assert {path.name for path in folder.glob("*.parquet*")} == {
            path.name for path in table.paths()
        }
        yield from map(repr, table.rows())


def tombstones(store: CorpusStore) -> list[dict[str, Any]]:
    return list(store.table("opt_outs", OPT_OUTS).rows())


@pytest.fixture(params=["repository", "path", "header", "unit", "content"])
def entry(request: pytest.FixtureRequest, repository: Path, tmp_path: Path) -> OptOut:
    """The same unit, asked for in each way there is."""
    known = CorpusStore(tmp_path / "known")
    collect(known, repository)
    unit = rows(known)["theirs/a.cu"]
    name = repository.as_uri()
    return {
        "repository": OptOut(DAY, name, path="*"),
        "path": OptOut(DAY, name, path="theirs/*.cu"),
        "header": OptOut(DAY, name, path="*.h"),
        "unit": OptOut(DAY, unit_id=unit["unit_id"]),
        "content": OptOut(DAY, content=unit["source_files"][1]["hashes"][1]),
    }[request.param]


def test_before_collection(store: CorpusStore, repository: Path, entry: OptOut) -> None:
    report = collect(store, repository, entry)
    assert report.adds_up
    assert rows(store)["theirs/a.cu"]["reason"] == "opted_out"
    assert not any(SECRET in row for row in stored(store))


def test_after_collection(store: CorpusStore, repository: Path, entry: OptOut) -> None:
    collect(store, repository)
    assert any(SECRET in row for row in stored(store))
    report = collect(store, repository, entry)
    assert (report.computed, report.adds_up) == (0, True)
    row = rows(store)["theirs/a.cu"]
    assert (row["reason"], row["evidence"]) == (
        "opted_out",
        f"{entry.kind}, asked for on 2026-12-04",
    )
    assert not any(SECRET in row for row in stored(store))


def test_after_selection_content_leaves_both_tables(store: CorpusStore, repository: Path) -> None:
    entry = OptOut(DAY, repository.as_uri(), path="theirs/*")
    collect(store, repository)
    assert select(store).kept == 3
    collect(store, repository, entry)
    assert select(store, entry).kept == 2
    assert "raw_kernels" not in read_ledger(store).lost
    assert not any(SECRET in row for row in stored(store))


def test_a_stage_that_did_not_collect_since_is_not_trusted(
    store: CorpusStore, repository: Path
) -> None:
    entry = OptOut(DAY, repository.as_uri(), path="theirs/*")
    collect(store, repository)
    report = select(store, entry)
    assert report.reasons == {"opted_out": 1}
    assert SECRET not in repr(rows(store, "raw_kernels"))


def test_a_source_that_is_opted_out_is_not_fetched(store: CorpusStore, repository: Path) -> None:
    url = repository.as_uri()
    repository.rename(repository.with_name("elsewhere"))
    report = collect(store, repository, OptOut(DAY, url))
    assert report.reasons == {"opted_out": 1}
    package = collection.update_sdists(
        store,
        [PackageSpec("Some_Package", "1.0")],
        store.root / "cache",
        IndexSettings(no_index=True, find_links=(str(store.root),)),
        SerialFanout(),
        lambda line: None,
        OptOuts((OptOut(DAY, "some-package"),)),
    )
    assert package.reasons == {"opted_out": 1}


def test_a_whole_source_after_collection(store: CorpusStore, repository: Path) -> None:
    collect(store, repository)
    units = {row["unit_id"] for row in rows(store).values()}
    assert collect(store, repository, OptOut(DAY, repository.as_uri())).reasons == {"opted_out": 3}
    assert {row["unit_id"] for row in tombstones(store)} == units


def test_a_folder(store: CorpusStore, repository: Path) -> None:
    for entries in ((), (OptOut(DAY, "repository", path="theirs/*"),)):
        report = collection.update_local(
            store, repository, "MIT", lambda line: None, OptOuts(entries)
        )
        assert report.adds_up
    assert report.reasons == {"opted_out": 1}
    assert len(tombstones(store)) == 1
    assert not any(SECRET in row for row in stored(store))


def test_tombstones_hold_ids_and_a_day(store: CorpusStore, repository: Path) -> None:
    collect(store, repository)
    unit = rows(store)["theirs/a.cu"]
    entry = OptOut(DAY, repository.as_uri(), path="theirs/*", reason="by mail")
    for _ in range(2):
        collect(store, repository, entry)
        select(store, entry)
    (tombstone,) = tombstones(store)
    assert (tombstone["unit_id"], tombstone["origin_id"]) == (unit["unit_id"], unit["origin_id"])
    assert (tombstone["kind"], tombstone["date"]) == ("path", DAY)
    assert not any(word in repr(tombstone) for word in ("theirs", "mail", SECRET))


def test_a_tombstone_outlives_its_source(store: CorpusStore, repository: Path) -> None:
    collect(store, repository)
    entry = OptOut(DAY, repository.as_uri(), path="theirs/*")
    collect(store, repository, entry)
    nothing = store.root.parent / "cache"
    collection.update_repositories(
        store, [], nothing, SerialFanout(), lambda line: None, OptOuts((entry,))
    )
    assert rows(store) == {}
    assert len(tombstones(store)) == 1


def test_a_withdrawn_request_brings_the_unit_back(store: CorpusStore, repository: Path) -> None:
    before = collect(store, repository)
    collect(store, repository, OptOut(DAY, repository.as_uri(), path="theirs/*"))
    after = collect(store, repository)
    assert after.outcomes == before.outcomes == {"kept": 3}
    assert SECRET in repr(rows(store)["theirs/a.cu"])
    assert tombstones(store) == []


@pytest.fixture
def made(store: CorpusStore, repository: Path, tmp_path: Path) -> CorpusStore:
    """A store with a corpus of the three programs; the pairs are written by hand."""
    collect(store, repository)
    select(store)
    pairs = []
    for number, row in enumerate(rows(store, "raw_kernels").values()):
        made = pair(f"pair{number}", unit_id=row["unit_id"], key=f"key{number}", kernels=[])
        pairs.append({n: v for n, v in made.items() if n in VERIFIED_PAIRS.names})
    kept = verdict_columns(Verdict.kept())
    store.table("verified_pairs", VERIFIED_PAIRS).replace([row | kept for row in pairs], "x")
    chosen = [
        {name: row[name] for name in ("key", "unit_id", "pair_id")} | kept | {"cluster_id": "c"}
        for row in pairs
    ]
    store.table("distinct_pairs", DISTINCT_PAIRS).replace(chosen, "x")
    publish(store)
    return store


def publish(store: CorpusStore, *entries: OptOut) -> StageReport:
    engine = Engine(store.root / "tmp")
    return corpus_stage.update(store, engine, lambda line: None, OptOuts(entries))


def test_publication_checks_again(made: CorpusStore, repository: Path) -> None:
    """Somebody materializes the corpus alone, after a request."""
    entry = OptOut(DAY, repository.as_uri(), path="theirs/*")
    theirs = rows(made)["theirs/a.cu"]["unit_id"]
    with pytest.raises(InputError, match=f"1 units .* such as {theirs}: materialize `corpus`"):
        refuse_opted_out(made, OptOuts((entry,)))
    report = publish(made, entry)
    assert report.outcomes == {"filtered": 1, "kept": 2}
    assert report.reasons == {"opted_out": 1}
    (path,) = corpus_stage.pair_files(made)
    units = set(pq.read_table(path, columns=["unit_id"])["unit_id"].to_pylist())
    assert len(units) == 2
    assert theirs not in units
    refuse_opted_out(made, OptOuts((entry,)))
    assert [row["unit_id"] for row in tombstones(made)] == [theirs]
    assert publish(made, entry).computed == 0
    assert publish(made).outcomes == {"kept": 3}
