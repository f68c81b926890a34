"""The Stack v2 from a real S3-compatible server: a kill, a bucket that fails, a dataset away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.errors import ConfigurationError
from cass_pipeline.records import COLLECTED
from cass_pipeline.sources.bucket import BucketSettings
from cass_pipeline.sources.config import StackSpec
from cass_pipeline.stage import StageReport
from cass_pipeline.stages import stack_kernels
from cass_pipeline.store import CorpusStore
from tests.sources.bucket_server import Bucket, bucket_server, refuse
from tests.sources.stack_data import StackDataset

REPOSITORIES = 12
CHILD = """
import sys
from pathlib import Path
from tests.stages.test_stack_bucket import collect
collect(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
"""


def collect(root: Path, endpoint: str, dataset: str | None = None) -> StageReport:
    spec = StackSpec(
        dataset or str(root / "dataset"),
        ("Cuda",),
        ("C++",) if (root / "dataset" / "data" / "C++").exists() else (),
        bucket=BucketSettings("s3://archive/content", endpoint, attempts=2),
        workers=2,
    )
    with (root / "log").open("a") as log:
        return stack_kernels.update(
            CorpusStore(root / "home"),
            spec,
            root / "cache",
            Engine(root / "tmp"),
            lambda line: print(line, file=log),
        )


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with bucket_server() as bucket:
        yield bucket


@pytest.fixture
def data(tmp_path: Path, bucket: Bucket) -> StackDataset:
    data = StackDataset(tmp_path / "dataset")
    data.kernels(REPOSITORIES)
    data.write()
    bucket.put(data.blobs)
    return data


def cached(root: Path) -> set[str]:
    return {path.name for path in root.glob("cache/contents/*/??/*") if len(path.name) == 40}


def test_a_killed_run_continues_and_fetches_nothing_twice(
    tmp_path: Path, data: StackDataset, bucket: Bucket
) -> None:
    released = False

    def hold(request: BaseHTTPRequestHandler) -> bool:
        while not released:
            time.sleep(0.01)
        return False

    bucket.faults += [lambda request: False] * 7 + [hold] * 20
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path), bucket.endpoint, str(data.folder)],
        cwd=Path(__file__).parents[2],
    )
    while len(cached(tmp_path)) < 7:
        assert child.poll() is None
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    done = cached(tmp_path)
    bucket.faults.clear()
    released = True
    report = collect(tmp_path, bucket.endpoint)
    assert report.outcomes == {"kept": REPOSITORIES}
    asked = Counter(path.rpartition("/")[2] for path in bucket.asked)
    assert len(done) == 7
    assert {asked[blob_id] for blob_id in done} == {1}
    assert set(asked) == set(data.blobs)
    # The killed run had read the metadata, but its lines were still in its memory.
    assert "reading the metadata" not in (tmp_path / "log").read_text()


def test_a_busy_bucket_fails_rows_that_the_next_run_brings(
    tmp_path: Path, data: StackDataset, bucket: Bucket
) -> None:
    bucket.faults += [refuse(503, "SlowDown")] * 1000
    report = collect(tmp_path, bucket.endpoint)
    assert report.adds_up
    assert report.reasons == {"source_unavailable": REPOSITORIES}
    assert len(bucket.asked) <= 4  # two threads with two attempts each
    bucket.faults.clear()
    assert collect(tmp_path, bucket.endpoint).outcomes == {"kept": REPOSITORIES}


def test_a_blob_that_is_gone_costs_its_unit_alone(
    tmp_path: Path, data: StackDataset, bucket: Bucket
) -> None:
    lost = data.add("owner/lost", "k.cu", "__global__ void f() {}\n")
    data.write()
    report = collect(tmp_path, bucket.endpoint)
    assert report.outcomes == {"filtered": 1, "kept": REPOSITORIES}
    assert report.reasons == {"blob_missing": 1}
    (row,) = [
        row
        for row in CorpusStore(tmp_path / "home").table("stack_kernels", COLLECTED).rows()
        if row["reason"]
    ]
    assert lost in row["evidence"]


def test_expired_credentials_stop_the_run_and_cost_nothing(
    tmp_path: Path, data: StackDataset, bucket: Bucket
) -> None:
    bucket.faults += [lambda request: False] * 4 + [refuse(400, "ExpiredToken")] * 1000
    with pytest.raises(ConfigurationError, match="renew the credentials"):
        collect(tmp_path, bucket.endpoint)
    done = cached(tmp_path)
    assert len(done) == 4
    bucket.faults.clear()
    bucket.asked.clear()
    assert collect(tmp_path, bucket.endpoint).outcomes == {"kept": REPOSITORIES}
    assert done.isdisjoint(path.rpartition("/")[2] for path in bucket.asked)
