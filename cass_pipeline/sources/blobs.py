"""Contents of files by their hash, from an archive that keeps each under its own name.

Whatever was fetched once is kept, packed as it came, in a folder, and never fetched again.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Protocol

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.units import sha1_sums

_GZIP = 16 + zlib.MAX_WBITS


class BlobSource(Protocol):
    """An archive of gzip-compressed files."""

    def read(self, blob_id: str, limit: int) -> bytes:
        """The packed bytes of a blob; of one longer than `limit` bytes, more than that many.

        Raises:
            RejectedError: BLOB_MISSING, or SOURCE_UNAVAILABLE after several attempts.
            ConfigurationError: the archive lets nobody in with these settings.
        """
        ...


class FolderBlobs:
    """A folder that holds each blob under its id, as a copy of a bucket would."""

    def __init__(self, root: Path) -> None:
        """`root` holds the blobs."""
        self._root = root

    def read(self, blob_id: str, limit: int) -> bytes:
        """See `BlobSource.read`."""
        try:
            with (self._root / blob_id).open("rb") as file:
                return file.read(limit + 1)
        except FileNotFoundError:
            raise RejectedError(Reason.BLOB_MISSING, f"{self._root} has no {blob_id}") from None
        except OSError as error:
            raise RejectedError(Reason.SOURCE_UNAVAILABLE, str(error)) from None


class BlobCache:
    """Blobs of one source: fetched by a bounded number of threads, kept in a folder, checked."""

    def __init__(
        self, source: BlobSource, folder: Path, pool: ThreadPoolExecutor, largest: int
    ) -> None:
        """See `blob_cache`."""
        self._source = source
        self._folder = folder
        self._pool = pool
        self._largest = largest
        self._lock = Lock()
        self._asked: dict[str, Future[None]] = {}

    def warm(self, blob_ids: Iterable[str]) -> None:
        """Starts to fetch what will soon be read; what goes wrong is said when it is read."""
        for blob_id in blob_ids:
            self._ask(blob_id)

    def read(self, blob_id: str, names: frozenset[str]) -> bytes:
        """The content of a blob, one of whose SHA-1 sums (plain or git's) is among `names`.

        Raises:
            RejectedError: see `BlobSource.read`; BLOB_CORRUPT, or TOO_LARGE.
            ConfigurationError: see `BlobSource.read`.
            OSError: the folder cannot be read or written.
        """
        self._ask(blob_id).result()
        with self._lock:
            # On disk now; only refusals have to be remembered.
            self._asked.pop(blob_id, None)
        place = self._place(blob_id)
        try:
            data = unpacked(blob_id, place.read_bytes(), self._largest)
            if names.isdisjoint(sha1_sums(data)):
                raise RejectedError(Reason.BLOB_CORRUPT, f"{blob_id}: its content has another hash")
        except RejectedError:
            # Of no use to anybody, and a disk can be at fault too.
            place.unlink(missing_ok=True)
            raise
        return data

    def _ask(self, blob_id: str) -> Future[None]:
        # A refusal is remembered: a header that is missing is asked for once a run.
        with self._lock:
            if blob_id not in self._asked:
                self._asked[blob_id] = self._pool.submit(self._fetch, blob_id)
            return self._asked[blob_id]

    def _fetch(self, blob_id: str) -> None:
        place = self._place(blob_id)
        if place.exists():
            return
        # Packed is larger than unpacked only for the smallest files, and by some bytes.
        packed = self._source.read(blob_id, self._largest + 1024)
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix="unfinished-", dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(packed)
        os.replace(name, place)

    def _place(self, blob_id: str) -> Path:
        return self._folder / blob_id[:2] / blob_id


@contextmanager
def blob_cache(
    source: BlobSource, folder: Path, *, workers: int, largest: int
) -> Iterator[BlobCache]:
    """Blobs of `source`, fetched while the block runs.

    Args:
        source: the archive.
        folder: where blobs are kept; of this source's own.
        workers: blobs that are fetched at the same time.
        largest: bytes of a blob, unpacked; a larger one is TOO_LARGE.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="blobs")
    try:
        yield BlobCache(source, folder, pool, largest)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def unpacked(name: str, packed: bytes, limit: int) -> bytes:
    """The content of a gzip file, at most `limit` bytes of it being looked at.

    Raises:
        RejectedError: BLOB_CORRUPT, or TOO_LARGE.
    """
    reader = zlib.decompressobj(_GZIP)
    try:
        data = reader.decompress(packed, limit + 1)
    except zlib.error as error:
        raise RejectedError(Reason.BLOB_CORRUPT, f"{name}: {error}") from None
    if len(data) > limit or len(packed) > limit + 1024:
        raise RejectedError(Reason.TOO_LARGE, f"{name}: more than {limit} bytes")
    if not reader.eof:
        raise RejectedError(Reason.BLOB_CORRUPT, f"{name}: the gzip stream ends too early")
    return data
