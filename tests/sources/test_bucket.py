"""Blobs from a real S3-compatible server: answers, refusals, and lines that break."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.blobs import blob_cache
from cass_pipeline.sources.bucket import BucketBlobs, BucketSettings
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.units import sha1_sums
from tests.sources.bucket_server import Bucket, break_off, bucket_server, hang_up, refuse

CONTENTS = [f"__global__ void kernel_{number}() {{}}\n".encode() for number in range(40)]
BLOBS = {sha1_sums(data)[0]: gzip.compress(data) for data in CONTENTS}
BLOB_ID = sha1_sums(CONTENTS[0])[0]
LIMIT = 1000


@pytest.fixture(scope="module")
def server() -> Iterator[Bucket]:
    with bucket_server() as bucket:
        bucket.put(BLOBS)
        yield bucket


@pytest.fixture
def bucket(server: Bucket) -> Bucket:
    server.faults.clear()
    server.asked.clear()
    server.most_at_once = 0
    return server


def settings(bucket: Bucket, **changes: object) -> BucketSettings:
    usual = {"location": bucket.location, "endpoint": bucket.endpoint, "attempts": 3}
    return BucketSettings(**(usual | changes))  # type: ignore[arg-type]


def blobs(bucket: Bucket, **changes: object) -> BucketBlobs:
    return BucketBlobs(settings(bucket, **changes), connections=4)


def test_a_blob_is_read_as_it_lies_there(bucket: Bucket) -> None:
    assert blobs(bucket).read(BLOB_ID, LIMIT) == BLOBS[BLOB_ID]
    assert bucket.asked == [f"/archive/content/{BLOB_ID}"]


def test_more_than_the_limit_is_not_read(bucket: Bucket) -> None:
    bucket.put({"large": bytes(10**6)})
    assert LIMIT < len(blobs(bucket).read("large", LIMIT)) < 10**5 + LIMIT


def test_requests_are_unsigned_unless_told(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def look(request: BaseHTTPRequestHandler) -> bool:
        seen.append(request.headers["Authorization"])
        return False

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    bucket.faults += [look, look]
    blobs(bucket).read(BLOB_ID, LIMIT)
    blobs(bucket, signed=True).read(BLOB_ID, LIMIT)
    assert seen[0] is None
    assert "Credential=somebody/" in (seen[1] or "")


def test_without_credentials_a_signed_request_is_a_wrong_setting(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ConfigurationError, match="AWS_ACCESS_KEY_ID"):
        blobs(bucket, signed=True).read(BLOB_ID, LIMIT)


@pytest.mark.parametrize(
    "fault",
    [refuse(503, "SlowDown"), refuse(500, "InternalError"), hang_up, break_off],
    ids=["slow_down", "internal_error", "hang_up", "break_off"],
)
def test_what_passes_is_waited_for(bucket: Bucket, fault: object) -> None:
    bucket.faults += [fault, fault]  # type: ignore[list-item]
    assert blobs(bucket).read(BLOB_ID, LIMIT) == BLOBS[BLOB_ID]
    assert len(bucket.asked) == 3


@pytest.mark.parametrize("fault", [hang_up, break_off, refuse(500, "InternalError")])
def test_what_does_not_pass_fails_one_blob(bucket: Bucket, fault: object) -> None:
    bucket.faults += [fault] * 3  # type: ignore[list-item]
    source = blobs(bucket)
    with pytest.raises(RejectedError) as raised:
        source.read(BLOB_ID, LIMIT)
    assert raised.value.reason is Reason.SOURCE_UNAVAILABLE
    assert source.read(BLOB_ID, LIMIT) == BLOBS[BLOB_ID]


def test_a_bucket_that_stays_busy_is_asked_no_more(bucket: Bucket) -> None:
    bucket.faults += [refuse(503, "SlowDown")] * 3
    source = blobs(bucket)
    for blob_id in list(BLOBS)[:5]:
        with pytest.raises(RejectedError, match="stays too busy") as raised:
            source.read(blob_id, LIMIT)
        assert raised.value.reason is Reason.SOURCE_UNAVAILABLE
    assert len(bucket.asked) == 3


def test_a_server_that_is_not_there_is_asked_no_more(bucket: Bucket) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}"
        source = blobs(bucket, endpoint=endpoint, attempts=2)
        with pytest.raises(RejectedError, match="Could not connect") as raised:
            source.read(BLOB_ID, LIMIT)
        assert raised.value.reason is Reason.SOURCE_UNAVAILABLE
        with pytest.raises(RejectedError, match="cannot be reached"):
            source.read(BLOB_ID, LIMIT)


def test_a_blob_that_is_not_there_is_missing(bucket: Bucket) -> None:
    with pytest.raises(RejectedError, match="NoSuchKey") as raised:
        blobs(bucket).read("0" * 40, LIMIT)
    assert raised.value.reason is Reason.BLOB_MISSING


def test_a_blob_that_may_not_be_read_fails_alone(bucket: Bucket) -> None:
    bucket.faults.append(refuse(403, "AccessDenied"))
    with pytest.raises(RejectedError, match="AccessDenied") as raised:
        blobs(bucket).read(BLOB_ID, LIMIT)
    assert raised.value.reason is Reason.SOURCE_UNAVAILABLE


@pytest.mark.parametrize("code", ["ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"])
def test_credentials_that_do_not_count_stop_the_run(bucket: Bucket, code: str) -> None:
    bucket.faults.append(refuse(403, code))
    with pytest.raises(ConfigurationError, match=f"{code}.*renew the credentials"):
        blobs(bucket).read(BLOB_ID, LIMIT)


def test_a_bucket_that_does_not_exist_stops_the_run(bucket: Bucket) -> None:
    with pytest.raises(ConfigurationError, match=r"NoSuchBucket.*name the bucket"):
        blobs(bucket, location="s3://no-such-bucket").read(BLOB_ID, LIMIT)


def test_blobs_are_fetched_at_once_but_not_all(bucket: Bucket, tmp_path: Path) -> None:
    def wait(request: BaseHTTPRequestHandler) -> bool:
        # Until as many have come as may, which is when their number grows no more.
        deadline = time.monotonic() + 5
        while bucket.most_at_once < 4 and time.monotonic() < deadline:
            time.sleep(0.001)
        return False

    bucket.faults += [wait] * len(BLOBS)
    with blob_cache(blobs(bucket), tmp_path, workers=4, largest=LIMIT) as cache:
        cache.warm(BLOBS)
        read = [cache.read(blob_id, frozenset({blob_id})) for blob_id in BLOBS]
    assert read == CONTENTS
    assert bucket.most_at_once == 4
    assert len(bucket.asked) == len(BLOBS)


def test_a_blob_is_fetched_once_and_a_refusal_remembered(bucket: Bucket, tmp_path: Path) -> None:
    names = frozenset({BLOB_ID})
    for _ in range(2):
        with blob_cache(blobs(bucket), tmp_path, workers=2, largest=LIMIT) as cache:
            assert cache.read(BLOB_ID, names) == cache.read(BLOB_ID, names) == CONTENTS[0]
            for _ in range(2):
                with pytest.raises(RejectedError):
                    cache.read("0" * 40, names)
    assert len(bucket.asked) == 1 + 2


def test_without_boto3_the_error_names_the_extra() -> None:
    script = (
        "import sys; sys.modules['boto3'] = None\n"
        "from cass_pipeline.sources.bucket import BucketBlobs, BucketSettings\n"
        "try: BucketBlobs(BucketSettings(), 1)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.startswith("ConfigurationError")
    assert "cass_pipeline[stack]" in done.stdout
