"""Source distributions, from a package index that the test serves."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.outcomes import Outcome, Reason
from cass_pipeline.sources.candidate import Candidate
from cass_pipeline.sources.config import PackageSpec
from cass_pipeline.sources.pip_settings import IndexSettings
from cass_pipeline.sources.sdist import collect_packages
from cass_pipeline.sources.settings import ArchiveLimits, FetchLimits, PathFilter
from tests.sources.trees import KERNEL, reasons, unit_of

METADATA = "Metadata-Version: 2.4\nName: pkg\nLicense-Expression: MIT\n"


class Index:
    """A simple index over HTTP; `requests` lists what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.pages: dict[str, list[str]] = {}
        self.requests: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def settings(self) -> IndexSettings:
        return IndexSettings(index_url=f"http://127.0.0.1:{self.server.server_port}/simple")

    def add(self, name: str, version: str, data: bytes, suffix: str = ".tar.gz") -> None:
        filename = f"{name}-{version}{suffix}"
        self.files[f"/files/{filename}"] = data
        digest = hashlib.sha256(data).hexdigest()
        link = f'<a href="/files/{filename}#sha256={digest}" data-requires-python="&gt;=99">x</a>'
        self.pages.setdefault(f"/simple/{name}/", []).append(link)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.requests.append(self.path)
                page = index.pages.get(self.path)
                data = "".join(page).encode() if page else index.files.get(self.path)
                self.send_response(404 if data is None else 200)
                self.send_header("Content-Type", "text/html" if page else "application/x-tar")
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def sdist(top: str, files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def simple(version: str) -> bytes:
    files = {"PKG-INFO": METADATA, "csrc/a.cu": f"// {version}\n" + KERNEL, "setup.py": "1 / 0"}
    return sdist(f"pkg-{version}", files)


def collect(index: Index, cache: Path, *packages: PackageSpec) -> list[Candidate]:
    return list(collect_packages(packages, cache, index.settings))


def test_the_newest_source_distribution_is_found(index: Index, tmp_path: Path) -> None:
    index.add("pkg", "1.9", simple("1.9"))
    index.add("pkg", "1.10", simple("1.10"))
    index.add("pkg", "1.11-py3-none-any", b"a wheel", ".whl")
    (candidate,) = collect(index, tmp_path, PackageSpec("Pkg"))
    origin = unit_of(candidate).origin
    assert (origin.source, origin.name, origin.revision) == ("sdist", "pkg", "1.10")
    assert (origin.path, origin.licence) == ("csrc/a.cu", "MIT")
    assert origin.licence_evidence == ("PKG-INFO: License-Expression: MIT",)


def test_a_pinned_version_in_the_cache_needs_no_network(index: Index, tmp_path: Path) -> None:
    index.add("pkg", "1.0", simple("1.0"))
    index.add("pkg", "2.0", simple("2.0"))
    spec = PackageSpec("pkg", "1.0")
    first = collect(index, tmp_path, spec)
    asked = len(index.requests)
    assert collect(index, tmp_path, spec) == first
    assert first[0].origin.revision == "1.0"
    assert len(index.requests) == asked == 2


def test_the_newest_version_is_asked_for_but_downloaded_once(index: Index, tmp_path: Path) -> None:
    index.add("pkg", "1.0", simple("1.0"))
    collect(index, tmp_path, PackageSpec("pkg"))
    collect(index, tmp_path, PackageSpec("pkg"))
    assert [path.split("/")[1] for path in index.requests] == ["simple", "files", "simple"]


def test_what_fails_can_be_tried_again_and_stops_no_other(index: Index, tmp_path: Path) -> None:
    index.add("pkg", "1.0", simple("1.0"))
    index.add("changed", "1.0", simple("1.0"))
    index.files["/files/changed-1.0.tar.gz"] = simple("changed")
    index.add("lost", "1.0", simple("1.0"))
    del index.files["/files/lost-1.0.tar.gz"]
    index.add("wheel-only", "1.0-py3-none-any", b"", ".whl")
    names = ["missing", "changed", "lost", "wheel-only", "pkg"]
    *failed, kept = collect(index, tmp_path, *map(PackageSpec, names))
    assert {c.verdict.reason for c in failed} == {Reason.SOURCE_UNAVAILABLE}
    assert {c.verdict.outcome for c in failed} == {Outcome.FAILED}
    assert [c.origin.name for c in failed] == names[:-1]
    assert "sha256" in failed[1].verdict.evidence
    assert kept.unit is not None
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "pkg" not in path.parts]


def test_an_index_that_does_not_answer(tmp_path: Path) -> None:
    settings = IndexSettings(index_url="http://127.0.0.1:9/simple")
    (candidate,) = collect_packages([PackageSpec("pkg")], tmp_path, settings)
    assert candidate.verdict.reason is Reason.SOURCE_UNAVAILABLE


def test_archives_that_are_refused(index: Index, tmp_path: Path) -> None:
    index.add("bomb", "1", sdist("bomb-1", {"a.cu": KERNEL, "b.bin": "0" * 40_000_000}))
    index.add("broken", "1", b"not an archive")
    index.add("plain", "1", sdist("plain-1", {"a.py": ""}))
    index.add("escape", "1", sdist("..", {"evil.cu": KERNEL, "../ok/b.cu": KERNEL}))
    names = ["bomb", "broken", "plain", "escape"]
    found = collect(index, tmp_path, *map(PackageSpec, names))
    assert [(c.origin.name, str(c.verdict.reason)) for c in found] == [
        ("bomb", "archive_limit"),
        ("broken", "archive_unreadable"),
        ("plain", "no_cuda_files"),
        ("escape", "path_escapes"),
        ("escape", "path_escapes"),
    ]


def test_a_download_over_the_limit(index: Index, tmp_path: Path) -> None:
    index.add("pkg", "1.0", simple("1.0"))
    small = ArchiveLimits(archive_bytes=100)
    found = collect_packages([PackageSpec("pkg")], tmp_path, index.settings, archive_limits=small)
    assert [c.verdict.reason for c in found] == [Reason.ARCHIVE_LIMIT]
    slow = FetchLimits(download_seconds=-1)
    found = collect_packages([PackageSpec("pkg")], tmp_path, index.settings, fetch_limits=slow)
    assert [c.verdict.reason for c in found] == [Reason.SOURCE_UNAVAILABLE]


def test_globs_and_stated_licence(index: Index, tmp_path: Path) -> None:
    index.add("pkg", "1.0", sdist("pkg-1.0", {"a.cu": KERNEL, "b.special": KERNEL, "t/c.cu": ""}))
    paths = PathFilter(("*.cu", "*.special"), ("t/*",))
    found = collect(index, tmp_path, PackageSpec("pkg", None, paths, "ISC"))
    assert reasons(found) == {"a.cu": "kept", "b.special": "kept"}
    assert {c.origin.licence for c in found} == {"ISC"}


def test_find_links_and_extra_indexes_are_searched(index: Index, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "pkg-3.0.tar.gz").write_bytes(simple("3.0"))
    index.add("pkg", "1.0", simple("1.0"))
    url = str(index.settings.index_url)
    links = (str(tmp_path / "links"), str(tmp_path / "gone"))
    for settings, version in [
        (IndexSettings(index_url=url, find_links=links), "3.0"),
        (IndexSettings(no_index=True, index_url=url, find_links=links), "3.0"),
        (IndexSettings(index_url=f"{url}/none", extra_index_url=(url,)), "1.0"),
    ]:
        (candidate,) = collect_packages([PackageSpec("pkg")], tmp_path / "cache", settings)
        assert candidate.origin.revision == version


@pytest.mark.parametrize(
    "settings", [IndexSettings(no_index=True), IndexSettings(cert="/no/such/file.pem")]
)
def test_settings_that_cannot_work(settings: IndexSettings, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        list(collect_packages([PackageSpec("pkg")], tmp_path, settings))
