"""Headers out of wheels: by ranges from a real server, or whole where it grants none."""

from __future__ import annotations

import hashlib
import re
import threading
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cass_pipeline.errors import ToolchainError
from cass_pipeline.toolchain.packages import PinnedWheel
from cass_pipeline.toolchain.wheels import unpack_headers

_NAME = "cass_test_headers-1.0-py3-none-any.whl"
_INFO = "cass_test_headers-1.0.dist-info"


class _Index(ThreadingHTTPServer):
    """A package index of one wheel; counts the bytes that the wheel's readers got."""

    grants_ranges = True
    sent = 0


class _Handler(SimpleHTTPRequestHandler):
    server: _Index

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """Serves a range of the wheel where ranges are granted, all else whole."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        file = Path(self.translate_path(self.path))
        if not (asked and self.server.grants_ranges and file.is_file()):
            super().do_GET()
            return
        data = file.read_bytes()
        first, last = int(asked[1]), min(int(asked[2]), len(data) - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        self.wfile.write(data[first : last + 1])
        self.server.sent += last - first + 1


@pytest.fixture
def wheel(tmp_path: Path) -> PinnedWheel:
    """A wheel with two headers and a large library, on an index's disk."""
    members = {
        "nvidia/cu13/include/one.h": b"#define ONE 1\n",
        "nvidia/cu13/include/sub/two.h": b"#define TWO 2\n",
        "nvidia/cu13/include/__init__.py": b"",
        "nvidia/cu13/lib/big.so": hashlib.shake_128(b"x").digest(4 << 20),
        f"{_INFO}/METADATA": b"Metadata-Version: 2.1\nName: cass-test-headers\nVersion: 1.0\n",
        f"{_INFO}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in members.items()
    ).encode()
    folder = tmp_path / "index" / "cass-test-headers"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / _NAME, "w") as archive:
        for name, data in (members | {f"{_INFO}/RECORD": record}).items():
            archive.writestr(name, data)
    (folder / "index.html").write_text(f'<!DOCTYPE html><a href="{_NAME}">{_NAME}</a>')
    return PinnedWheel("cass-test-headers", "1.0", hashlib.sha256(record).hexdigest())


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def index(wheel: PinnedWheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Index]:
    """A server of that index, and pip set up to use nothing else."""

    class Here(_Handler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(tmp_path / "index"))  # type: ignore[arg-type]

    with _Index(("127.0.0.1", 0), Here) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("PIP_TRUSTED_HOST", "127.0.0.1")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "PIP_FIND_LINKS", "PIP_CERT"):
            monkeypatch.delenv(name, raising=False)
        yield server
        server.shutdown()
        thread.join()


def _headers(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))


def test_headers_alone_are_fetched(index: _Index, wheel: PinnedWheel, tmp_path: Path) -> None:
    unpack_headers([wheel], tmp_path / "include")
    assert _headers(tmp_path / "include") == ["one.h", "sub/two.h"]
    assert (tmp_path / "include" / "sub" / "two.h").read_text() == "#define TWO 2\n"
    assert 0 < index.sent < 2 << 20


def test_without_ranges_the_whole_wheel_is_read(
    index: _Index, wheel: PinnedWheel, tmp_path: Path
) -> None:
    index.grants_ranges = False
    unpack_headers([wheel], tmp_path / "include")
    assert _headers(tmp_path / "include") == ["one.h", "sub/two.h"]
    assert not list(tmp_path.rglob("download*"))


def test_another_wheel_of_that_version(index: _Index, wheel: PinnedWheel, tmp_path: Path) -> None:
    other = PinnedWheel(wheel.name, wheel.version, "0" * 64)
    with pytest.raises(ToolchainError, match="not the pinned wheel"):
        unpack_headers([other], tmp_path / "include")


def test_a_member_that_was_changed(index: _Index, wheel: PinnedWheel, tmp_path: Path) -> None:
    file = tmp_path / "index" / "cass-test-headers" / _NAME
    data = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["nvidia/cu13/include/one.h"] = b"#define ONE 3\n"
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert file.read_bytes() != data
    with pytest.raises(ToolchainError, match=r"include/one\.h is not what RECORD says"):
        unpack_headers([wheel], tmp_path / "include")


def test_a_wheel_that_the_index_does_not_have(index: _Index, tmp_path: Path) -> None:
    missing = PinnedWheel("cass-no-such-wheel", "1.0", "0" * 64)
    with pytest.raises(ToolchainError, match="pip could not do its part"):
        unpack_headers([missing], tmp_path / "include")
