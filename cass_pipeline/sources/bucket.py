"""Blobs in an S3 bucket, such as Software Heritage's: each gzip-compressed, under its SHA-1."""

from __future__ import annotations

import contextlib
import random
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError

_CHUNK = 2**16
_NO_BUCKET = frozenset({"NoSuchBucket", "InvalidBucketName", "PermanentRedirect"})
_NO_KEY = frozenset({"NoSuchKey", "404"})
_NOT_LET_IN = frozenset(
    {
        "AuthorizationHeaderMalformed",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "InvalidToken",
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "TokenRefreshRequired",
    }
)
_BUSY = frozenset({"503", "RequestLimitExceeded", "ServiceUnavailable", "SlowDown", "Throttling"})


@dataclass(frozen=True)
class BucketSettings:
    """Which bucket, and how it is asked."""

    location: str = "s3://softwareheritage/content"
    """Bucket and prefix, as `s3://bucket/prefix`."""
    endpoint: str = ""
    """URL of an S3-compatible server; empty is AWS."""
    region: str = "us-east-1"
    signed: bool = False
    """Whether requests carry credentials (boto3's usual ones); public buckets need none."""
    attempts: int = 8
    """How often a request is made before it counts as failed; pauses between them grow."""
    seconds: float = 30.0
    """For a connection to stand, and without a byte."""


class BucketBlobs:
    """The blobs of a bucket; may be read by many threads."""

    def __init__(self, settings: BucketSettings, connections: int) -> None:
        """Nothing is asked yet.

        Args:
            settings: the bucket.
            connections: requests at the same time.

        Raises:
            ConfigurationError: boto3 is not installed, or the location is none.
        """
        self._settings = settings
        parts = urlsplit(settings.location)
        if parts.scheme != "s3" or not parts.netloc:
            raise ConfigurationError(f"{settings.location} is no bucket; write s3://bucket/prefix")
        self._bucket, self._prefix = parts.netloc, parts.path.strip("/")
        self._client = _client(settings, connections)
        self._out_of_reach = ""

    def read(self, blob_id: str, limit: int) -> bytes:
        """See `BlobSource.read`.

        Once the bucket cannot be reached, or stays too busy, it is asked no more: every blob would
        wait through all attempts again.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        for attempt in range(self._settings.attempts):
            if self._out_of_reach:
                raise RejectedError(Reason.SOURCE_UNAVAILABLE, self._out_of_reach)
            try:
                body = self._opened(blob_id)
            except ClientError as error:
                raise self._refusal(blob_id, error) from None
            except BotoCoreError as error:
                raise self._no_answer(blob_id, error) from None
            try:
                return _read(body, limit)
            except (BotoCoreError, OSError) as error:
                # The client repeats requests, but not one whose answer broke off.
                problem = f"{blob_id}: {error}"
            time.sleep(min(20.0, random.uniform(0, 0.5 * 2**attempt)))  # noqa: S311 - not a secret
        raise RejectedError(Reason.SOURCE_UNAVAILABLE, problem)

    def _opened(self, blob_id: str) -> Any:
        key = f"{self._prefix}/{blob_id}".lstrip("/")
        return self._client.get_object(Bucket=self._bucket, Key=key)["Body"]

    def _refusal(self, blob_id: str, error: Any) -> Exception:
        where = f"{self._settings.location}/{blob_id}"
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = str(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
        if code in _NO_KEY:
            return RejectedError(Reason.BLOB_MISSING, f"{where}: {code}")
        if code in _NO_BUCKET:
            return ConfigurationError(f"{where}: {error}; name the bucket and its region")
        if code in _NOT_LET_IN:
            return ConfigurationError(
                f"{where}: {error}; renew the credentials, or read a public bucket without "
                "(signed: false)"
            )
        if code in _BUSY or status == "503":
            self._out_of_reach = f"{self._settings.location} stays too busy: {error}"
            return RejectedError(Reason.SOURCE_UNAVAILABLE, self._out_of_reach)
        return RejectedError(Reason.SOURCE_UNAVAILABLE, f"{where}: {error}")

    def _no_answer(self, blob_id: str, error: Exception) -> Exception:
        from botocore.exceptions import (
            ConnectTimeoutError,
            EndpointConnectionError,
            NoCredentialsError,
            PartialCredentialsError,
            SSLError,
        )

        location = self._settings.location
        if isinstance(error, NoCredentialsError | PartialCredentialsError):
            return ConfigurationError(
                f"{location}: {error}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or read a "
                "public bucket without (signed: false)"
            )
        if isinstance(error, EndpointConnectionError | ConnectTimeoutError | SSLError):
            self._out_of_reach = f"{location} cannot be reached: {error}"
        return RejectedError(Reason.SOURCE_UNAVAILABLE, f"{location}/{blob_id}: {error}")


def _read(body: Any, limit: int) -> bytes:
    with contextlib.closing(body):
        data = bytearray()
        # Only reading to the end tells whether the answer was complete.
        while len(data) <= limit and (chunk := body.read(_CHUNK)):
            data += chunk
        return bytes(data)


def _client(settings: BucketSettings, connections: int) -> Any:
    try:
        import boto3
        from botocore import UNSIGNED
        from botocore.client import Config
    except ImportError as error:
        raise ConfigurationError(
            "reading a bucket needs boto3: install the extra `stack` "
            "(pip install 'cass_pipeline[stack]')"
        ) from error
    config = Config(
        connect_timeout=settings.seconds,
        read_timeout=settings.seconds,
        max_pool_connections=connections,
        # Backs off when the server says so (SlowDown, 503), and when connections break.
        retries={"mode": "standard", "total_max_attempts": settings.attempts},
        **({} if settings.signed else {"signature_version": UNSIGNED}),
    )
    return boto3.session.Session().client(
        "s3", region_name=settings.region, endpoint_url=settings.endpoint or None, config=config
    )
