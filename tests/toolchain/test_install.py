"""Installing into a cache: pinned, whole or not at all, twice at once, and with clear errors."""

from __future__ import annotations

import hashlib
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cass_pipeline.errors import ConfigurationError, ToolchainError
from cass_pipeline.toolchain.debian import mirror_url
from cass_pipeline.toolchain.fetch import download, full_disk_explained
from cass_pipeline.toolchain.install import component_folder, install, status
from cass_pipeline.toolchain.packages import (
    DebianComponent,
    DebianPackage,
    PackageTable,
    SystemTool,
    package_table,
)

_PATH = "pool/h/hello_1_all.deb"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A Debian archive with one real package in it."""
    tree = tmp_path / "package"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        "Package: hello\nVersion: 1\nArchitecture: all\nMaintainer: x <x@y>\nDescription: x\n"
    )
    (tree / "usr" / "include").mkdir(parents=True)
    (tree / "usr" / "include" / "hello.h").write_text("#define HELLO 1\n")
    archive = tmp_path / "mirror" / _PATH
    archive.parent.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "-b", tree, archive], check=True, capture_output=True)
    return tmp_path / "mirror"


def _table(mirror: Path, *, sha256: str | None = None, path: str = _PATH) -> PackageTable:
    sha256 = sha256 or hashlib.sha256((mirror / _PATH).read_bytes()).hexdigest()
    component = DebianComponent("hello", "1", "says hello", (DebianPackage(path, sha256),))
    tool = SystemTool("no-such-compiler", "no-such-package", "compiles nothing", ())
    return PackageTable((component,), (), ("no-such-wheel",), (tool,))


def test_install_then_status(mirror: Path, tmp_path: Path) -> None:
    cache, table, lines = tmp_path / "cache", _table(mirror), list[str]()
    before = status(cache, table=table)
    assert [part.name for part in before.missing] == ["hello", "no-such-wheel", "no-such-package"]
    after = install(cache, debian_mirror=mirror.as_uri(), progress=lines.append, table=table)
    assert lines == ["hello 1: says hello"]
    assert (cache / "hello" / "usr" / "include" / "hello.h").is_file()
    assert [part.remedy for part in after.missing] == [
        "pip install 'cass_pipeline[nvidia]'",
        "apt-get install no-such-package   (compiles nothing)",
    ]
    install(cache, debian_mirror="file:///gone/", progress=lines.append, table=table)
    assert len(lines) == 1
    assert sorted(path.name for path in cache.iterdir()) == ["hello", "install.lock"]


def test_other_pins_install_anew(mirror: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    install(cache, debian_mirror=mirror.as_uri(), table=_table(mirror))
    old = cache / "hello" / "left over"
    old.touch()
    (mirror / "other.deb").write_bytes((mirror / _PATH).read_bytes())
    table = _table(mirror, path="other.deb")
    assert "hello" in [part.name for part in status(cache, table=table).missing]
    install(cache, debian_mirror=mirror.as_uri(), table=table)
    assert not old.exists()
    assert (cache / "hello" / "usr" / "include" / "hello.h").is_file()


def test_two_installs_at_once(mirror: Path, tmp_path: Path) -> None:
    cache, table, lines = tmp_path / "cache", _table(mirror), list[str]()
    with ThreadPoolExecutor(4) as pool:
        for done in [
            pool.submit(
                install, cache, debian_mirror=mirror.as_uri(), progress=lines.append, table=table
            )
            for _ in range(4)
        ]:
            done.result()
    assert len(lines) == 1


def test_wrong_hash(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"not the pinned .*another mirror"):
        install(
            tmp_path / "c", debian_mirror=mirror.as_uri(), table=_table(mirror, sha256="0" * 64)
        )
    assert not (tmp_path / "c" / "hello").exists()
    assert not list((tmp_path / "c" / "downloads").iterdir())


def test_not_on_the_mirror(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="was not reached"):
        install(tmp_path / "c", debian_mirror=mirror.as_uri(), table=_table(mirror, path="no.deb"))


def test_no_network(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="check the network and the proxy settings"):
        download("http://127.0.0.1:9/x.deb", tmp_path / "x.deb", "0" * 64)
    with pytest.raises(ConfigurationError, match="not an http, https or file address"):
        download("ftp://127.0.0.1/x.deb", tmp_path / "x.deb", "0" * 64)


def test_full_disk(mirror: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with (
        pytest.raises(ToolchainError, match=r"no room left in .*choose another cache folder"),
        full_disk_explained(Path("/cache")),
        full.open("wb", buffering=0) as out,
    ):
        out.write(b"x")


def test_mirror_setting() -> None:
    assert mirror_url("http://x/debian") == "http://x/debian/"


def test_no_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="set `debian_mirror`"):
        mirror_url(None)


def test_a_component_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="cass toolchain install"):
        component_folder(tmp_path, "hip")


def test_the_shipped_table_is_pinned() -> None:
    table = package_table()
    for component in table.debian:
        for package in component.packages:
            assert len(package.sha256) == 64
            assert package.path.startswith("pool/")
    for headers in table.headers:
        assert all(len(wheel.record_sha256) == 64 for wheel in headers.wheels)


def test_everything_is_installed_here(toolchain_cache: Path) -> None:
    report = status(toolchain_cache)
    assert report.complete
    assert {part.name for part in report.components} >= {"hip", "cuda-headers", "clang-19"}
    assert (toolchain_cache / "cuda-headers" / "include" / "curand_kernel.h").is_file()
