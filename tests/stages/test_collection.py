"""Collecting twice: what is new is read, what is known is not, what is out of reach stays."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_pipeline.errors import ConfigurationError, InputError
from cass_pipeline.fanout import SerialFanout
from cass_pipeline.records import COLLECTED
from cass_pipeline.sources.config import PackageSpec, RepositorySpec
from cass_pipeline.sources.pip_settings import IndexSettings
from cass_pipeline.sources.select import Selection
from cass_pipeline.stage import StageReport
from cass_pipeline.stages import collection, raw_kernels
from cass_pipeline.store import CorpusStore
from tests.checkout import KERNEL


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    return CorpusStore(tmp_path / "home")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    git("init", "--quiet", "--initial-branch=main", str(folder), cwd=tmp_path)
    commit(folder, 1)
    return folder


def git(*arguments: str, cwd: Path) -> None:
    identity = ("-c", "user.name=Someone", "-c", "user.email=someone@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


def commit(folder: Path, number: int) -> None:
    (folder / f"add_{number}.cu").write_text(KERNEL.format(number=number))
    git("add", ".", cwd=folder)
    git("commit", "--quiet", "-m", f"Add {number}", cwd=folder)


def collect(store: CorpusStore, repository: Path, lines: list[str] | None = None) -> StageReport:
    return collection.update_repositories(
        store,
        [RepositorySpec(repository.as_uri(), "main")],
        store.root / "cache",
        SerialFanout(),
        (lines if lines is not None else []).append,
    )


def paths(store: CorpusStore, table: str = "repository_kernels") -> list[str]:
    return sorted(store.table(table, COLLECTED).read(["source_path"])["source_path"].to_pylist())


def test_a_branch_is_read_again_only_when_it_moved(store: CorpusStore, repository: Path) -> None:
    assert collect(store, repository).computed == 1
    assert collect(store, repository).computed == 0
    commit(repository, 2)
    report = collect(store, repository)
    assert (report.computed, report.rows_in, report.kept) == (1, 2, 2)
    assert paths(store) == ["add_1.cu", "add_2.cu"]


def test_a_source_out_of_reach_keeps_what_it_gave(store: CorpusStore, repository: Path) -> None:
    collect(store, repository)
    repository.rename(repository.with_name("elsewhere"))
    lines: list[str] = []
    report = collect(store, repository, lines)
    assert paths(store) == ["add_1.cu"]
    assert report.adds_up
    assert "what it gave before stays" in lines[0]


def test_a_source_never_reached_is_a_failed_row_that_is_tried_again(store: CorpusStore) -> None:
    nowhere = store.root / "nowhere"
    for _ in range(2):
        report = collect(store, nowhere)
        assert report.outcomes == {"failed": 1}
        assert report.reasons == {"source_unavailable": 1}
        assert report.computed == 1


def test_a_package_that_no_index_has_is_a_failed_row(store: CorpusStore, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    report = collection.update_sdists(
        store,
        [PackageSpec("no-such-package", "1.0")],
        tmp_path / "cache",
        IndexSettings(no_index=True, find_links=(str(tmp_path / "links"),)),
        SerialFanout(),
        lambda line: None,
    )
    assert report.reasons == {"source_unavailable": 1}


def test_a_source_that_is_listed_twice_is_refused(store: CorpusStore, repository: Path) -> None:
    """Two revisions of one file would have one origin."""
    specs = [RepositorySpec(repository.as_uri(), name) for name in ("main", "HEAD")]
    with pytest.raises(ConfigurationError, match="listed more than once"):
        collection.update_repositories(
            store, specs, store.root / "cache", SerialFanout(), lambda line: None
        )


def test_another_licence_or_revision_reaches_the_selection(
    store: CorpusStore, repository: Path
) -> None:
    for licence in ("MIT", "Apache-2.0"):
        collection.update_local(store, repository, licence, lambda line: None)
        raw_kernels.update(store, Selection(), lambda line: None)
        (row,) = store.table("raw_kernels", COLLECTED).rows(["licence"], kept_only=True)
        assert row["licence"] == licence


def test_a_missing_folder_is_named(store: CorpusStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none is not a folder"):
        collection.update_local(store, tmp_path / "none", None, lambda line: None)


def test_equal_units_of_two_sources_are_kept_once(store: CorpusStore, repository: Path) -> None:
    collect(store, repository)
    collection.update_local(store, repository, None, lambda line: None)
    report = raw_kernels.update(store, Selection(), lambda line: None)
    assert report.adds_up
    assert report.outcomes == {"filtered": 1, "kept": 1}
    assert report.reasons == {"duplicate_unit": 1}
    (row,) = store.table("raw_kernels", COLLECTED).rows(["source"], kept_only=True)
    assert row["source"] == "local"


def test_a_changed_threshold_collects_nothing_anew(store: CorpusStore, repository: Path) -> None:
    collect(store, repository)
    assert raw_kernels.update(store, Selection(), lambda line: None).kept == 1
    report = raw_kernels.update(store, Selection(min_kernels=2), lambda line: None)
    assert report.reasons == {"no_kernel": 1}
    assert raw_kernels.update(store, Selection(), lambda line: None).kept == 1
