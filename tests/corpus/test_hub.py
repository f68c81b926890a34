from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.hub import HubRelease, HubTarget, LocalRelease, publish
from cass_pipeline.corpus.release import Release
from cass_pipeline.errors import ConfigurationError, InfrastructureError, StoreError

from .hub_server import TOKEN, Hub, serve
from .samples import pair
from .test_release import LOAD, contents, many, released

REPOSITORY = "tester/pairs"
# The client's classic upload calls its own HTTP library in a way that the latter deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    # The server speaks the classic upload protocol only.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    # Or a fault costs the client's patience of half a minute.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with serve() as running:
        yield running


@pytest.fixture
def target(hub: Hub) -> HubTarget:
    return HubTarget(REPOSITORY, TOKEN, hub.endpoint)


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
    published = publish(release.folder, target)
    assert isinstance(published, LocalRelease)
    assert published.release == release
    assert published.reason.startswith(missing)


def test_what_is_published_is_what_was_built(hub: Hub, target: HubTarget, release: Release) -> None:
    published = publish(release.folder, target)
    assert isinstance(published, HubRelease)
    assert published.url == f"{hub.endpoint}/datasets/{REPOSITORY}/commit/{published.commit}"
    files = hub.files(REPOSITORY, published.commit)
    del files[".gitattributes"]
    assert files == contents(release.folder)
    assert hub.repositories[REPOSITORY].private


def test_the_same_release_is_not_committed_twice(target: HubTarget, release: Release) -> None:
    assert publish(release.folder, target) == publish(release.folder, target)


def test_shards_of_an_older_release_do_not_stay(
    hub: Hub, target: HubTarget, tmp_path: Path, engine: Engine
) -> None:
    publish(released(tmp_path, engine, many()).folder, target)
    repository = hub.repositories[REPOSITORY]
    repository.commit(hub.files(REPOSITORY) | {"docs/figure.svg": b"<svg/>"})
    newer = released(tmp_path, engine, [pair("a")])
    publish(newer.folder, target)
    others = {".gitattributes", "docs/figure.svg"}
    assert set(hub.files(REPOSITORY)) == set(contents(newer.folder)) | others


@pytest.mark.parametrize(("config", "name"), [("", "pairs"), ("kernels", "kernels")])
def test_datasets_loads_the_same_rows_from_the_hub(
    target: HubTarget, release: Release, tmp_path: Path, config: str, name: str
) -> None:
    publish(release.folder, target)
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD.replace('folder + "-cache"', "None"), REPOSITORY, config],
        env={
            "HF_ENDPOINT": target.endpoint,
            "HF_TOKEN": TOKEN,
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_XET": "1",
        },
        check=True,
        capture_output=True,
    )
    written = pq.read_table(sorted((release.folder / "data" / name).iterdir()))
    assert json.loads(loaded.stdout) == written.to_pylist()


def test_a_wrong_token_is_a_matter_of_configuration(target: HubTarget, release: Release) -> None:
    with pytest.raises(ConfigurationError, match=r"check that .* the token is valid") as caught:
        publish(release.folder, replace(target, token="hf_wrong"))
    assert "hf_wrong" not in str(caught.value)


def test_a_wrong_name_is_a_matter_of_configuration(target: HubTarget, release: Release) -> None:
    with pytest.raises(ConfigurationError, match="which is owner/name"):
        publish(release.folder, replace(target, repo_id="a/b/c"))


def test_an_unreachable_hub_may_be_tried_again(target: HubTarget, release: Release) -> None:
    with pytest.raises(InfrastructureError, match="cannot be reached"):
        publish(release.folder, replace(target, endpoint="http://127.0.0.1:9"))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failing_hub_may_be_tried_again(
    hub: Hub, target: HubTarget, release: Release, status: int
) -> None:
    hub.failing_status = status
    with pytest.raises(InfrastructureError, match="run it again"):
        publish(release.folder, target)


def test_a_fault_in_mid_upload_may_be_mended_by_the_same_call(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    hub.failing_uploads = True
    with pytest.raises(InfrastructureError, match="run it again"):
        publish(release.folder, target)
    hub.failing_uploads = False
    assert isinstance(publish(release.folder, target), HubRelease)


def test_publishing_is_silent(
    target: HubTarget, release: Release, capfd: pytest.CaptureFixture[str]
) -> None:
    publish(release.folder, target)
    assert capfd.readouterr() == ("", "")


def test_a_changed_file_is_not_published(target: HubTarget, release: Release) -> None:
    (release.folder / "NOTICE").write_text("nobody", encoding="utf-8")
    with pytest.raises(StoreError, match="differs from its manifest in NOTICE"):
        publish(release.folder, target)


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(HubTarget(REPOSITORY, TOKEN))
