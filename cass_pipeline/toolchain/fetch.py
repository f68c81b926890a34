"""Downloads that are checked against a pinned hash and appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import ssl
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import urlsplit

from cass_pipeline.errors import ConfigurationError, ToolchainError

TIMEOUT_SECONDS = 60.0
"""Longest silence of a server before the download counts as failed."""

CHUNK_BYTES = 1 << 20
_SCHEMES = {"http", "https", "file"}


def open_url(
    url: str, *, byte_range: tuple[int, int] | None = None, ca_file: str | None = None
) -> HTTPResponse:
    """Opens `url`; proxies are the ones urllib finds.

    Args:
        url: an http, https or file address.
        byte_range: first and last byte wanted; the answer's status says whether it was granted.
        ca_file: certificates to trust in place of the system's.

    Raises:
        ConfigurationError: the address has another scheme.
        OSError: the server was not reached or refused (urllib's errors are OSErrors).
    """
    if urlsplit(url).scheme not in _SCHEMES:
        raise ConfigurationError(f"{url} is not an http, https or file address")
    headers = {} if byte_range is None else {"Range": f"bytes={byte_range[0]}-{byte_range[1]}"}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 (scheme checked above)
    context = ssl.create_default_context(cafile=ca_file) if ca_file else None
    answer = urllib.request.urlopen(  # noqa: S310
        request, timeout=TIMEOUT_SECONDS, context=context
    )
    return cast(HTTPResponse, answer)


def download(url: str, target: Path, sha256: str) -> None:
    """Brings `url` to `target`, unless it is there already with the right hash.

    Raises:
        ToolchainError: not reached, not found, wrong hash, or no room; says what would help.
    """
    if target.is_file() and sha256_of(target) == sha256:
        return
    with full_disk_explained(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        partial = Path(name)
        try:
            with os.fdopen(handle, "wb") as out:
                digest = _copy(url, out)
            if digest != sha256:
                raise ToolchainError(
                    f"{url} has SHA-256 {digest}, not the pinned {sha256}: the download was "
                    "altered or cut short; try again, or use another mirror"
                )
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """SHA-256 (hexadecimal) of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def full_disk_explained(folder: Path) -> Iterator[None]:
    """Turns 'no space left' into an error that names the folder and the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ToolchainError(
                f"no room left in {folder}: free some, or choose another cache folder; "
                "what was finished is kept and the next install goes on from there"
            ) from error
        raise


def _copy(url: str, out: BinaryIO) -> str:
    digest = hashlib.sha256()
    try:
        with open_url(url) as answer:
            while chunk := answer.read(CHUNK_BYTES):
                digest.update(chunk)
                out.write(chunk)
    except urllib.error.HTTPError as error:
        raise ToolchainError(
            f"{url}: the server answered {error.code} {error.reason}; if the mirror no longer "
            "holds this version, set `debian_mirror` to an archive that does"
        ) from error
    except (urllib.error.URLError, TimeoutError, HTTPException) as error:
        raise ToolchainError(
            f"{url} was not reached ({error}): check the network and the proxy settings, "
            "then install again"
        ) from error
    return digest.hexdigest()
