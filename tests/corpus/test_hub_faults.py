"""What a Hub, a network and other people can do to a release that is being published.

Whatever happens, main holds the old release or the new one, and the same call mends it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.hub import HubRelease, HubTarget
from cass_pipeline.corpus.hub_errors import Patience
from cass_pipeline.corpus.release import Release
from cass_pipeline.errors import ConfigurationError, InfrastructureError

from .hub_fixtures import REPOSITORY, hub, target
from .hub_git import Files
from .hub_server import TOKEN, Fault, Hub
from .publishing import contents_to_publish, publish_to
from .samples import pair
from .test_release import many, released

__all__ = ["hub", "target"]
# The client's classic upload calls its own HTTP library in a way that the latter deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

API = f"/api/datasets/{REPOSITORY}"
CREATE, UPLOAD, COMMIT = f"{API}/discussions$", "/lfs-put/", f"{API}/commit/"
PUBLISH, MERGE, TAG = f"{API}/discussions/1/status", f"{API}/discussions/1/merge", f"{API}/tag/"
STEPS = [CREATE, UPLOAD, COMMIT, PUBLISH, MERGE, TAG]
FOREVER = 1_000


@pytest.fixture
def release(tmp_path: Path, engine: Engine) -> Release:
    return released(tmp_path, engine, many(10))


def assert_published(hub: Hub, release: Release, published: HubRelease) -> None:
    """The whole release is on main, by one merge, and tagged."""
    assert set(hub.files(REPOSITORY)) == contents_to_publish(release) | {".gitattributes"}
    assert hub.tags(REPOSITORY) == {"v2026.12.05": published.commit}
    statuses = [pull.status for pull in hub.repositories[REPOSITORY].pull_requests.values()]
    assert statuses == ["merged"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("done", [False, True], ids=["before it is done", "after it is done"])
def test_a_dropped_connection_is_mended(
    hub: Hub, target: HubTarget, release: Release, step: str, done: bool
) -> None:
    """The answer may be lost although the Hub did what it was asked to do."""
    hub.faults.append(Fault(step, "PUT" if step == UPLOAD else "POST", after_bytes=500, done=done))
    published = publish_to(target, release)
    assert hub.faults[0].reached.is_set()
    assert_published(hub, release, published)


def test_a_hub_that_asks_to_wait_is_waited_for(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    hub.faults.append(Fault(COMMIT, "POST", status=429, headers={"Retry-After": "1"}))
    started = time.monotonic()
    published = publish_to(target, release)
    assert time.monotonic() - started >= 1
    assert_published(hub, release, published)


def test_the_hubs_own_header_for_waiting_is_heeded(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    limits = {"ratelimit": '"api";r=0;t=1', "ratelimit-policy": '"fixed window";"api";q=500;w=300'}
    hub.faults.append(Fault(MERGE, "POST", status=429, headers=limits))
    started = time.monotonic()
    published = publish_to(target, release)
    assert time.monotonic() - started >= 1
    assert_published(hub, release, published)


def test_a_hub_that_asks_for_hours_is_left_for_later(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    hub.faults.append(Fault(COMMIT, "POST", status=429, headers={"Retry-After": "7200"}))
    with pytest.raises(InfrastructureError, match="run it again later: it asks for fewer"):
        publish_to(target, release)
    assert_published(hub, release, publish_to(target, release))


@pytest.mark.parametrize("step", [CREATE, COMMIT, PUBLISH, MERGE, TAG])
def test_a_hub_that_stays_broken_is_an_error_that_the_next_run_mends(
    hub: Hub, target: HubTarget, release: Release, step: str
) -> None:
    fault = Fault(step, "POST", status=500, times=FOREVER)
    hub.faults.append(fault)
    with pytest.raises(InfrastructureError, match="run it again"):
        publish_to(target, release)
    on_main = set(hub.files(REPOSITORY)) - {".gitattributes"}
    assert on_main == (contents_to_publish(release) if step == TAG else set())
    fault.times = 0
    assert_published(hub, release, publish_to(target, release))


def test_what_was_uploaded_is_not_uploaded_again(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    fault = Fault(PUBLISH, "POST", status=500, times=FOREVER)
    hub.faults.append(fault)
    with pytest.raises(InfrastructureError):
        publish_to(target, release)
    fault.times = 0
    hub.requests.clear()
    publish_to(target, release)
    assert not [request for request in hub.requests if "lfs-put" in request or "commit" in request]


PUBLISHER = """
import sys
from pathlib import Path
from cass_pipeline.corpus.hub import HubTarget
from cass_pipeline.corpus.release import read_release
from tests.corpus.publishing import publish_to
folder, repository, token, endpoint = sys.argv[1:]
publish_to(HubTarget(repository, token, endpoint), read_release(Path(folder)))
"""


@pytest.mark.parametrize("step", [UPLOAD, COMMIT, MERGE, TAG])
def test_kill_9_leaves_nothing_half_done_on_main(
    hub: Hub, target: HubTarget, release: Release, tmp_path: Path, step: str
) -> None:
    """The publisher dies while the Hub works; the Hub then finishes what it was asked to do."""
    fault = Fault(step, "PUT" if step == UPLOAD else "POST", hold=threading.Event())
    hub.faults.append(fault)
    process = subprocess.Popen(
        [sys.executable, "-c", PUBLISHER, release.folder, REPOSITORY, TOKEN, hub.endpoint],
        env=hub.environment(REPOSITORY, tmp_path / "home"),
        cwd=Path(__file__).parents[2],
        stdout=subprocess.DEVNULL,
    )
    while not fault.reached.wait(0.1):
        assert process.poll() is None
    process.kill()
    process.wait()
    assert fault.hold is not None
    fault.hold.set()
    assert_published(hub, release, publish_to(target, release))


def test_of_two_publishers_the_second_begins_again_from_the_first(
    hub: Hub, target: HubTarget, tmp_path: Path, engine: Engine
) -> None:
    slow = released(tmp_path / "slow", engine, [pair("a"), pair("b")])
    quick = released(tmp_path / "quick", engine, [pair("a"), pair("c")])
    hold = threading.Event()
    fault = Fault(MERGE, "POST", hold=hold)
    hub.faults.append(fault)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(publish_to, target, slow)
        fault.reached.wait()
        first = publish_to(target, quick)
        hold.set()
        second = waiting.result()
    assert hub.tags(REPOSITORY) == {"v2026.12.05": first.commit, "v2026.12.05.1": second.commit}
    assert set(hub.files(REPOSITORY)) == contents_to_publish(slow) | {".gitattributes"}
    assert set(hub.files(REPOSITORY, first.commit)) == contents_to_publish(quick) | {
        ".gitattributes"
    }
    removed = hub.files(REPOSITORY)["removed_pairs.jsonl"].decode()
    assert '"pair_id": "c"' in removed
    statuses = [pull.status for pull in hub.repositories[REPOSITORY].pull_requests.values()]
    assert statuses == ["closed", "merged", "merged"]


def test_two_publishers_of_one_content_make_one_release(
    hub: Hub, target: HubTarget, tmp_path: Path, engine: Engine
) -> None:
    releases = [released(tmp_path / name, engine, [pair("a")]) for name in ("one", "other")]
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(publish_to, [target] * 2, releases))
    assert hub.tags(REPOSITORY) == {"v2026.12.05": results[0].commit}
    assert results[0].commit == results[1].commit


def test_what_arrives_damaged_is_not_merged(hub: Hub, target: HubTarget, release: Release) -> None:
    damaged = "data/pairs/train-00000-of-00002.parquet"
    assert damaged in release.files

    def spoil(files: Files) -> Files:
        return {path: data[:-1] if path == damaged else data for path, data in files.items()}

    hub.spoil = spoil
    with pytest.raises(InfrastructureError, match=rf"not what was released: {damaged} differs"):
        publish_to(target, release)
    assert set(hub.files(REPOSITORY)) == {".gitattributes"}
    assert hub.tags(REPOSITORY) == {}
    hub.spoil = dict
    assert_published(hub, release, publish_to(target, release))


def test_what_others_put_into_the_branch_is_not_merged(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    hub.spoil = lambda files: files | {"pairs.py": b"import os"}
    with pytest.raises(InfrastructureError, match=r"pairs\.py is from somebody else"):
        publish_to(target, release)
    assert set(hub.files(REPOSITORY)) == {".gitattributes"}


def test_the_pull_request_of_another_user_is_left_alone(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    target_api = replace(target)
    hub.faults.append(Fault(CREATE, "POST", status=500, times=FOREVER))
    with pytest.raises(InfrastructureError):
        publish_to(target_api, release)
    hub.faults.clear()
    theirs = hub.repositories[REPOSITORY].open_pull_request(f"Release {release.version}", "reader")
    publish_to(target, release)
    assert theirs.status == "draft"


def test_a_repository_without_pull_requests_says_so(
    hub: Hub, target: HubTarget, release: Release
) -> None:
    hub.faults.append(Fault(CREATE, "POST", status=403, times=FOREVER))
    with pytest.raises(ConfigurationError, match="settings allow pull requests"):
        publish_to(target, release)


def test_an_unreachable_hub_may_be_tried_again(target: HubTarget, release: Release) -> None:
    patience = Patience(attempts=2, first_wait=0.01)
    nowhere = replace(target, endpoint="http://127.0.0.1:9", patience=patience)
    with pytest.raises(InfrastructureError, match="cannot be reached"):
        publish_to(nowhere, release)


def test_a_hub_without_xet_says_how_to_do_without(
    hub: Hub, target: HubTarget, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    with pytest.raises(ConfigurationError, match="set HF_HUB_DISABLE_XET=1"):
        publish_to(target, release)
