"""CUDA in git repositories, made with git for each test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import Candidate, RejectedError
from cass_pipeline.sources.config import RepositorySpec
from cass_pipeline.sources.git import run_git
from cass_pipeline.sources.repository import (
    collect_repositories,
    fetched,
    without_credentials,
)
from cass_pipeline.sources.settings import FetchLimits, PathFilter
from tests.sources.trees import KERNEL, MIT, reasons, unit_of, write


class Repository:
    """A repository in a folder, with the commands that the tests need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "gc.auto=0")
        command = ["git", *identity, "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, **files: str) -> str:
        write(self.folder, files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "upstream")
    made.commit(**{"src/a.cu": '#include "x.h"\n' + KERNEL, "inc/x.h": "", "LICENSE": MIT})
    return made


def collect(spec: RepositorySpec, cache: Path) -> list[Candidate]:
    return list(collect_repositories([spec], cache))


def test_a_branch_is_pinned_to_its_commit(repository: Repository, tmp_path: Path) -> None:
    (candidate,) = collect(RepositorySpec(repository.url, "main"), tmp_path / "cache")
    unit = unit_of(candidate)
    assert unit.origin.name == repository.url
    assert unit.origin.revision == repository.git("rev-parse", "HEAD")
    assert unit.origin.path == "src/a.cu"
    assert unit.origin.licence == "MIT"
    assert sorted(unit.tree.files) == ["inc/x.h", "src/a.cu"]


def test_a_moved_branch_is_fetched_again_and_a_tag_stays(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("tag", "--annotate", "v1", "--message=x")
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit(**{"b.cu": KERNEL})
    cache = tmp_path / "cache"
    assert {c.origin.revision for c in collect(RepositorySpec(repository.url, "v1"), cache)} == {
        first
    }
    assert len(collect(RepositorySpec(repository.url, "main"), cache)) == 2
    repository.commit(**{"c.cu": KERNEL})
    assert len(collect(RepositorySpec(repository.url, "main"), cache)) == 3
    assert len(collect(RepositorySpec(repository.url, second), cache)) == 2


def test_a_pinned_commit_needs_no_network_the_second_time(
    repository: Repository, tmp_path: Path
) -> None:
    spec = RepositorySpec(repository.url, repository.git("rev-parse", "HEAD"))
    before = reasons(collect(spec, tmp_path / "cache"))
    repository.folder.rename(tmp_path / "gone")
    assert reasons(collect(spec, tmp_path / "cache")) == before == {"src/a.cu": "kept"}


def test_only_one_commit_is_fetched(repository: Repository, tmp_path: Path) -> None:
    repository.commit(**{"b.cu": KERNEL})
    (tmp_path / "cache").mkdir()
    commit, git_dir = fetched(
        RepositorySpec(repository.url, "main"), tmp_path / "cache", FetchLimits()
    )
    count = run_git(git_dir, "rev-list", "--count", commit, limits=FetchLimits())
    assert count.strip() == "1"


def test_a_fetch_that_was_cut_off_is_done_again(repository: Repository, tmp_path: Path) -> None:
    spec = RepositorySpec(repository.url, repository.git("rev-parse", "HEAD"))
    cache = tmp_path / "cache"
    collect(spec, cache)
    (complete,) = cache.glob("*/*.git")
    unfinished = complete.parent / "unfinished-x"
    unfinished.mkdir()
    complete.rename(unfinished / "fetch.git")
    assert reasons(collect(spec, cache)) == {"src/a.cu": "kept"}


@pytest.mark.parametrize("revision", ["no-such-branch", "0" * 40])
def test_a_revision_that_is_not_there(
    repository: Repository, tmp_path: Path, revision: str
) -> None:
    (candidate,) = collect(RepositorySpec(repository.url, revision), tmp_path / "cache")
    assert candidate.verdict.reason is Reason.SOURCE_UNAVAILABLE
    assert candidate.origin.path == ""
    assert not list((tmp_path / "cache").glob("*/*"))


def test_one_repository_that_fails_stops_no_other(repository: Repository, tmp_path: Path) -> None:
    gone = RepositorySpec((tmp_path / "gone").as_uri(), "main")
    found = list(
        collect_repositories([gone, RepositorySpec(repository.url, "main")], tmp_path / "cache")
    )
    assert [str(c.verdict.reason) for c in found] == ["source_unavailable", "None"]


@pytest.mark.parametrize("url", ["ext::touch hacked", "--upload-pack=touch hacked", "x"])
def test_urls_that_run_commands_are_refused(tmp_path: Path, url: str) -> None:
    (candidate,) = collect(RepositorySpec(url, "main"), tmp_path / "cache")
    assert candidate.verdict.reason is Reason.SOURCE_UNAVAILABLE
    assert not (tmp_path / "hacked").exists()


def test_links_of_a_commit(repository: Repository, tmp_path: Path) -> None:
    links = {
        "inside.cu": "src/a.cu",
        "twice.cu": "inside.cu",
        "outside.cu": "../../etc/passwd",
        "absolute.cu": "/etc/passwd",
        "dangling.cu": "nowhere.cu",
        "loop.cu": "loop.cu",
    }
    for name, target in links.items():
        (repository.folder / name).symlink_to(target)
    repository.commit()
    found = reasons(collect(RepositorySpec(repository.url, "main"), tmp_path / "cache"))
    kept = {path for path, reason in found.items() if reason == "kept"}
    assert kept == {"inside.cu", "twice.cu", "src/a.cu"}
    assert {found[path] for path in set(found) - kept} == {"path_escapes"}


def test_hostile_names_of_a_commit(repository: Repository, tmp_path: Path) -> None:
    names = ["$(touch hacked);.cu", "new\nline.cu", "tab\t.cu", "-rf.cu", "中.cu", '"q".cu']
    repository.commit(**dict.fromkeys(names, KERNEL))
    Path(os.fsdecode(os.fsencode(repository.folder) + b"/\xff.cu")).write_text(KERNEL)
    repository.commit()
    found = reasons(collect(RepositorySpec(repository.url, "main"), tmp_path / "cache"))
    assert set(found) == {*names, "\\xff.cu", "src/a.cu"}
    assert set(found.values()) == {"kept"}


def test_submodules_and_filters_are_not_followed(repository: Repository, tmp_path: Path) -> None:
    inner = Repository(tmp_path / "inner")
    inner.commit(**{"b.cu": KERNEL})
    allowed = ("-c", "protocol.file.allow=always")
    repository.git(*allowed, "submodule", "--quiet", "add", inner.url, "sub")
    repository.commit(
        **{".gitattributes": "*.cu filter=evil export-ignore\n", ".gitmodules": "[submodule]\n"}
    )
    found = collect(RepositorySpec(repository.url, "main"), tmp_path / "cache")
    assert reasons(found) == {"src/a.cu": "kept"}


def test_globs_and_stated_licence(repository: Repository, tmp_path: Path) -> None:
    repository.commit(**{"test/b.cu": KERNEL})
    spec = RepositorySpec(repository.url, "main", PathFilter(exclude=("test/*",)), "ISC")
    (candidate,) = collect(spec, tmp_path / "cache")
    assert (candidate.origin.path, candidate.origin.licence) == ("src/a.cu", "ISC")


def test_a_repository_without_cuda(tmp_path: Path) -> None:
    made = Repository(tmp_path / "upstream")
    made.commit(readme="x")
    (candidate,) = collect(RepositorySpec(made.url, "main"), tmp_path / "cache")
    assert candidate.verdict.reason is Reason.NO_CUDA_FILES


def test_a_commit_of_too_many_files(repository: Repository, tmp_path: Path) -> None:
    spec = RepositorySpec(repository.url, "main")
    limits = FetchLimits(git_entries=2)
    (candidate,) = collect_repositories([spec], tmp_path / "cache", fetch_limits=limits)
    assert candidate.verdict.reason is Reason.ARCHIVE_LIMIT


def test_a_git_command_without_end_is_ended(tmp_path: Path) -> None:
    git_dir = tmp_path / "x.git"
    run_git(git_dir, "init", "--bare", "--quiet", str(git_dir), limits=FetchLimits())
    endless = ("-c", "alias.endless=!sleep 60", "endless")
    with pytest.raises(RejectedError, match="no end after"):
        run_git(git_dir, *endless, limits=FetchLimits(git_seconds=0.3))


def test_a_fetch_that_grows_without_end_is_ended(tmp_path: Path) -> None:
    git_dir = tmp_path / "x.git"
    run_git(git_dir, "init", "--bare", "--quiet", str(git_dir), limits=FetchLimits())
    (git_dir / "pack").write_bytes(b"x" * 2000)
    slow = ("-c", "alias.slow=!sleep 60", "slow")
    with pytest.raises(RejectedError) as caught:
        run_git(git_dir, *slow, limits=FetchLimits(git_bytes=1000))
    assert caught.value.reason is Reason.ARCHIVE_LIMIT


def test_credentials_are_not_recorded() -> None:
    assert without_credentials("https://me:secret@host:8/x@y.git") == "https://host:8/x@y.git"
    assert without_credentials("http://[x") == "http://[x"
