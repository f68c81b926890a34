"""Publishing, against a Hub that can fail. What goes wrong on the way is in `test_hub_faults`."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.hub import HubTarget, LocalRelease, publish
from cass_pipeline.corpus.release import Release
from cass_pipeline.errors import ConfigurationError, StoreError

from .hub_fixtures import REPOSITORY, hub, target
from .hub_server import READ_TOKEN, TOKEN, Hub
from .publishing import contents_to_publish, editor_of, publish_to
from .samples import pair
from .test_release import LOAD, contents, many, released

__all__ = ["hub", "target"]
# The client's classic upload calls its own HTTP library in a way that the latter deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def release(tmp_path: Path, engine: Engine) -> Release:
    return released(tmp_path, engine, many(10))


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        (HubTarget(), "no repo_id and no token configured"),
        (HubTarget(repo_id=REPOSITORY), "no token configured"),
        (HubTarget(token=TOKEN), "no repo_id configured"),
    ],
)
def test_without_configuration_the_release_stays_local(
    release: Release, target: HubTarget, missing: str
) -> None:
    published = publish(editor_of(release), target, print)
    assert isinstance(published, LocalRelease)
    assert published.release.folder == release.folder
    assert published.reason.startswith(missing)
    assert (published.tag, published.new) == ("v2026.12.05", True)


def test_what_is_published_is_what_was_built_and_dated(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    published = publish_to(target, release)
    assert published.url == f"{hub.endpoint}/datasets/{REPOSITORY}/tree/{published.commit}"
    assert hub.tags(REPOSITORY) == {"v2026.12.05": published.commit}
    files = dict(hub.files(REPOSITORY))
    del files[".gitattributes"]
    assert files == contents(release.folder)
    assert hub.files(REPOSITORY, "v2026.12.05") == hub.files(REPOSITORY)
    assert hub.repositories[REPOSITORY].private


def test_a_release_is_one_commit_on_main(hub: Hub, target: HubTarget, release: Release) -> None:
    published = publish_to(target, release)
    repository = hub.repositories[REPOSITORY]
    commit = repository.commits[published.commit]
    assert [repository.commits[oid].title for oid in commit.parents] == ["initial commit"]
    assert [request.status for request in repository.pull_requests.values()] == ["merged"]


def test_the_same_content_is_not_released_twice(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    first = publish_to(target, release)
    before = contents(release.folder)
    second = publish_to(target, release, today=date(2026, 12, 6))
    assert (first.new, second.new) == (True, False)
    assert replace(second, new=True) == first
    assert list(hub.tags(REPOSITORY)) == ["v2026.12.05"]
    assert contents(release.folder) == before


def test_a_machine_without_history_takes_over_what_the_hub_says(
    target: HubTarget, tmp_path: Path, engine: Engine
) -> None:
    one = released(tmp_path / "one", engine, [pair("a")])
    other = released(tmp_path / "other", engine, [pair("a")])
    publish_to(target, one)
    published = publish_to(target, other, today=date(2026, 12, 6))
    assert not published.new
    assert contents(one.folder) == contents(other.folder)


def test_a_second_release_on_a_day_has_a_tag_of_its_own(
    hub: Hub, target: HubTarget, tmp_path: Path, engine: Engine
) -> None:
    for names in ("a", "ab", "abc"):
        publish_to(target, released(tmp_path, engine, [pair(name) for name in names]))
    assert list(hub.tags(REPOSITORY)) == ["v2026.12.05", "v2026.12.05.1", "v2026.12.05.2"]


def test_shards_of_an_older_release_do_not_stay(
    hub: Hub, target: HubTarget, tmp_path: Path, engine: Engine
) -> None:
    publish_to(target, released(tmp_path, engine, many()))
    repository = hub.repositories[REPOSITORY]
    theirs = {"docs/figure.svg": b"<svg/>"}
    repository.commit("refs/heads/main", dict(hub.files(REPOSITORY)) | theirs, "A figure")
    newer = released(tmp_path, engine, [pair("a")])
    publish_to(target, newer)
    others = {".gitattributes", "docs/figure.svg"}
    assert set(hub.files(REPOSITORY)) == contents_to_publish(newer) | others


@pytest.mark.parametrize(("config", "name"), [("", "pairs"), ("kernels", "kernels")])
def test_datasets_loads_the_same_rows_from_the_hub(
    hub: Hub, target: HubTarget, release: Release, tmp_path: Path, config: str, name: str
) -> None:
    publish_to(target, release)
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD.replace('folder + "-cache"', "None"), REPOSITORY, config],
        env=hub.environment(REPOSITORY, tmp_path / "home"),
        check=True,
        capture_output=True,
    )
    written = pq.read_table(sorted((release.folder / "data" / name).iterdir()))
    assert json.loads(loaded.stdout) == written.to_pylist()


def test_a_private_repository_is_nobody_elses(
    hub: Hub, target: HubTarget, release: Release, tmp_path: Path
) -> None:
    publish_to(target, release)
    stranger = hub.environment(REPOSITORY, tmp_path / "home")
    del stranger["HF_TOKEN"]
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD.replace('folder + "-cache"', "None"), REPOSITORY, ""],
        env=stranger,
        capture_output=True,
        text=True,
    )
    assert loaded.returncode != 0
    assert "DatasetNotFoundError" in loaded.stderr


def test_a_wrong_token_is_a_matter_of_configuration(target: HubTarget, release: Release) -> None:
    with pytest.raises(ConfigurationError, match=r"token is valid .* set HF_TOKEN") as caught:
        publish_to(replace(target, token="hf_wrong"), release)
    assert "hf_wrong" not in str(caught.value)


def test_a_token_that_may_only_read_is_a_matter_of_configuration(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    with pytest.raises(ConfigurationError, match="write permission of a member of tester"):
        publish_to(replace(target, token=READ_TOKEN), release)
    assert hub.repositories == {}


def test_a_wrong_name_is_a_matter_of_configuration(target: HubTarget, release: Release) -> None:
    with pytest.raises(ConfigurationError, match="which is owner/name"):
        publish_to(replace(target, repo_id="a/b/c"), release)


def test_publishing_is_silent(
    target: HubTarget, release: Release, capfd: pytest.CaptureFixture[str]
) -> None:
    publish(editor_of(release), target, lambda message: None)
    assert capfd.readouterr() == ("", "")


def test_a_changed_file_is_not_published(target: HubTarget, release: Release) -> None:
    (release.folder / "NOTICE").write_text("nobody", encoding="utf-8")
    with pytest.raises(StoreError, match="differs from its manifest in NOTICE"):
        publish_to(target, release)


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(HubTarget(REPOSITORY, TOKEN))
