"""Headers out of wheels that are too large to install, read by HTTP range requests.

pip finds the wheels, so that the machine's index, mirror, proxy, certificate and credential
settings hold here as well. Where a server grants no ranges, pip downloads the whole wheel.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import urllib.error
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path, PurePosixPath

from cass_pipeline.errors import ToolchainError
from cass_pipeline.toolchain.fetch import open_url
from cass_pipeline.toolchain.packages import PinnedWheel

_BLOCK_BYTES = 1 << 18
_HEADERS_BELOW = "include/"


class _RangeRefusedError(Exception):
    """The server did not answer a range request with that range."""


class HttpFile(io.RawIOBase):
    """A remote file, readable at any place; wrap it in a `BufferedReader`.

    Args:
        url: where the file is.
        ca_file: certificates to trust, None for the system's.
    """

    def __init__(self, url: str, ca_file: str | None) -> None:
        super().__init__()
        self._url = url
        self._ca_file = ca_file
        self._at = 0
        self._size = 1
        self._get(0, 1)

    def seekable(self) -> bool:
        """Always true."""
        return True

    def readable(self) -> bool:
        """Always true."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves; nothing is fetched before the next read."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = base + offset
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Reads by one request."""
        count = min(len(buffer), self._size - self._at)
        if count <= 0:
            return 0
        data = self._get(self._at, count)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _get(self, start: int, count: int) -> bytes:
        wanted = (start, start + count - 1)
        try:
            with open_url(self._url, byte_range=wanted, ca_file=self._ca_file) as answer:
                span, _, size = answer.headers.get("Content-Range", "").partition("/")
                if span != f"bytes {wanted[0]}-{wanted[1]}" or not size.isdigit():
                    raise _RangeRefusedError
                self._size = int(size)
                return answer.read()
        except (urllib.error.URLError, HTTPException, TimeoutError) as error:
            raise _RangeRefusedError from error


def unpack_headers(wheels: Sequence[PinnedWheel], include: Path) -> None:
    """Writes every header of the wheels below `include`, each checked against its RECORD.

    Raises:
        ToolchainError: a wheel is not on the index, or is not the pinned one.
    """
    addresses = _addresses(wheels)
    ca_file = _pip_setting("cert")
    for wheel in wheels:
        try:
            remote = io.BufferedReader(HttpFile(addresses[wheel.name], ca_file), _BLOCK_BYTES)
            with zipfile.ZipFile(remote) as archive:
                _extract(archive, wheel, include)
        except _RangeRefusedError:
            with (
                tempfile.TemporaryDirectory(dir=include.parent) as folder,
                zipfile.ZipFile(_whole_wheel(wheel, Path(folder))) as archive,
            ):
                _extract(archive, wheel, include)


def _extract(archive: zipfile.ZipFile, wheel: PinnedWheel, include: Path) -> None:
    for member, expected in _record(archive, wheel).items():
        _, found, below = member.partition(_HEADERS_BELOW)
        if not found or member.endswith(".py"):
            continue
        data = archive.read(member)
        digest = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if expected != f"sha256={digest}":
            raise ToolchainError(f"{wheel.name} {wheel.version}: {member} is not what RECORD says")
        if ".." in PurePosixPath(below).parts:
            raise ToolchainError(f"{wheel.name} {wheel.version}: {member} leads out of the wheel")
        target = include / below
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _record(archive: zipfile.ZipFile, wheel: PinnedWheel) -> dict[str, str]:
    names = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
    data = archive.read(names[0]) if names else b""
    if hashlib.sha256(data).hexdigest() != wheel.record_sha256:
        raise ToolchainError(
            f"{wheel.name} {wheel.version} on the pip index is not the pinned wheel: "
            "its RECORD has another hash"
        )
    return {row[0]: row[1] for row in csv.reader(io.StringIO(data.decode())) if len(row) == 3}


def _addresses(wheels: Sequence[PinnedWheel]) -> dict[str, str]:
    """Where pip would download each wheel from, without downloading it."""
    arguments = [
        # Without it pip downloads whole wheels from an index that serves no separate metadata.
        "--use-feature=fast-deps",
        *("--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:"),
        *("--quiet", "--report", "-"),
        *_requirements(wheels),
    ]
    report = json.loads(_pip("install", *arguments))
    return {entry["metadata"]["name"]: entry["download_info"]["url"] for entry in report["install"]}


def _whole_wheel(wheel: PinnedWheel, folder: Path) -> Path:
    _pip(
        *("download", "--no-deps", "--only-binary", ":all:", "--quiet"),
        *("--dest", str(folder), *_requirements([wheel])),
    )
    return next(folder.glob("*.whl"))


def _requirements(wheels: Sequence[PinnedWheel]) -> list[str]:
    return [f"{wheel.name}=={wheel.version}" for wheel in wheels]


def _pip_setting(name: str) -> str | None:
    """A setting of pip's configuration files and environment; the last one listed wins."""
    value = None
    for line in _pip("config", "list").splitlines():
        key, _, text = line.partition("=")
        if key.rpartition(".")[2] == name:
            value = str(ast.literal_eval(text))
    return value


def _pip(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()[-4:]
        raise ToolchainError(
            "pip could not do its part (is it installed, and its index reached?):\n"
            + "\n".join(lines)
        )
    return done.stdout
