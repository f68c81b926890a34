"""Archives, friendly and made to harm."""

from __future__ import annotations

import contextlib
import gzip
import io
import stat
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.archive import read_archive
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.settings import MIB, ArchiveLimits
from cass_pipeline.sources.tree import MemoryTree
from tests.sources.trees import KERNEL


def add(archive: tarfile.TarFile, name: str, data: bytes = b"", **fields: object) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    for field, value in fields.items():
        setattr(member, field, value)
    archive.addfile(member, io.BytesIO(data))


def tar(folder: Path, fill: Callable[[tarfile.TarFile], None], mode: str = "w:gz") -> Path:
    path = folder / "x.tar"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        fill(archive)
    return path


def read(path: Path, limits: ArchiveLimits | None = None) -> MemoryTree:
    return read_archive(path, limits or ArchiveLimits(), MIB)


def reason(path: Path, limits: ArchiveLimits | None = None) -> Reason:
    with pytest.raises(RejectedError) as caught:
        read(path, limits)
    return caught.value.reason


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_of_each_compression(tmp_path: Path, mode: str) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "pkg-1/src/a.cu", KERNEL.encode())
        add(archive, "./pkg-1//x.h", b"int x;")
        add(archive, "pkg-1/LICENSE", b"text")
        add(archive, "pkg-1/model.bin", b"\0" * 5000)
        add(archive, "pkg-1/big.h", b" " * (MIB + 1))
        add(archive, "pkg-1", type=tarfile.DIRTYPE)

    tree = read(tar(tmp_path, fill, mode))
    assert set(tree.sizes) == {"src/a.cu", "x.h", "LICENSE", "big.h"}
    assert tree.read("src/a.cu") == KERNEL.encode()
    assert tree.unusable == {}
    with pytest.raises(OSError, match="too large"):
        tree.read("big.h")


def test_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pkg/a.cu", KERNEL)
        archive.writestr("pkg/../../evil.cu", KERNEL)
        link = zipfile.ZipInfo("pkg/link.cu")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "a.cu")
        pipe = zipfile.ZipInfo("pkg/pipe.cu")
        pipe.external_attr = (stat.S_IFIFO | 0o777) << 16
        archive.writestr(pipe, "")
    tree = read(path)
    assert set(tree.sizes) == {"a.cu", "link.cu"}
    assert tree.read("link.cu") == KERNEL.encode()
    assert set(tree.unusable) == {"../../evil.cu", "pipe.cu"}


def test_names_and_links_that_lead_out_are_kept_apart(tmp_path: Path) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "p/a.cu", KERNEL.encode())
        add(archive, "/etc/x.cu", b"x")
        add(archive, "p/../../x.cu", b"x")
        add(archive, "p/" + "n" * 300 + ".cu", b"x")
        add(archive, "p/ok.cu", type=tarfile.SYMTYPE, linkname="./a.cu")
        add(archive, "p/hard.cu", type=tarfile.LNKTYPE, linkname="p/a.cu")
        add(archive, "p/out.cu", type=tarfile.SYMTYPE, linkname="../../etc/passwd")
        add(archive, "p/abs.cu", type=tarfile.SYMTYPE, linkname="/etc/passwd")
        add(archive, "p/hardout.cu", type=tarfile.LNKTYPE, linkname="../p/a.cu")
        add(archive, "p/dev.cu", type=tarfile.CHRTYPE)
        add(archive, "p/pipe.cu", type=tarfile.FIFOTYPE)

    tree = read(tar(tmp_path, fill))
    assert set(tree.sizes) == {"a.cu", "ok.cu", "hard.cu"}
    assert set(tree.unusable) == {
        "/etc/x.cu",
        "../../x.cu",
        "n" * 300 + ".cu",
        "out.cu",
        "abs.cu",
        "hardout.cu",
        "dev.cu",
        "pipe.cu",
    }


def test_the_later_of_two_members_of_one_name_counts(tmp_path: Path) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "p/a.cu", b"first")
        add(archive, "p/a.cu", type=tarfile.SYMTYPE, linkname="/etc/passwd")
        add(archive, "p/b.cu", type=tarfile.SYMTYPE, linkname="/etc/passwd")
        add(archive, "p/b.cu", b"second")
        add(archive, "p/c.cu", type=tarfile.FIFOTYPE)
        add(archive, "p/c.cu", b"second")
        add(archive, "p/d.cu", b"first")
        add(archive, "p/d.cu", type=tarfile.FIFOTYPE)

    tree = read(tar(tmp_path, fill))
    assert set(tree.unusable) == {"a.cu", "d.cu"}
    assert set(tree.sizes) == {"b.cu", "c.cu"}
    assert tree.read("b.cu") == b"second"


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, mode: str) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "p/a.cu", KERNEL.encode())
        add(archive, "p/zeros.bin", b"\0" * (80 * MIB))

    path = tar(tmp_path, fill, mode)
    start = time.process_time()
    assert reason(path) is Reason.ARCHIVE_LIMIT
    assert time.process_time() - start < 5


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p/a.cu", b"\0" * (80 * MIB))
    assert reason(path) is Reason.ARCHIVE_LIMIT


def test_each_limit(tmp_path: Path) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        for number in range(20):
            add(archive, f"p/{number}.cu", b"x" * 1000)

    path = tar(tmp_path, fill)
    assert reason(path, ArchiveLimits(members=19)) is Reason.ARCHIVE_LIMIT
    assert reason(path, ArchiveLimits(unpacked_bytes=19_000)) is Reason.ARCHIVE_LIMIT
    assert reason(path, ArchiveLimits(kept_bytes=19_000)) is Reason.ARCHIVE_LIMIT
    assert len(read(path, ArchiveLimits(members=20, kept_bytes=20_000)).sizes) == 20


@pytest.mark.parametrize("size", [64 * MIB, -1, -512, 2**62])
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.REGTYPE])
def test_a_header_that_lies_about_its_size(tmp_path: Path, kind: bytes, size: int) -> None:
    header = tarfile.TarInfo("p/a.cu")
    header.type, header.size = kind, size
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) * 3 + b"\0" * 10240))
    assert reason(path) in (Reason.ARCHIVE_LIMIT, Reason.ARCHIVE_UNREADABLE)


def test_damaged_archives(tmp_path: Path) -> None:
    path = tar(tmp_path, lambda archive: add(archive, "p/a.cu", bytes(range(256)) * 4000))
    whole = path.read_bytes()
    for data in (b"", b"text", b"PK\3\4", whole[: len(whole) // 2], b"\x1f\x8b" + b"\0" * 99):
        path.write_bytes(data)
        assert reason(path) is Reason.ARCHIVE_UNREADABLE


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=40), st.sampled_from(["tar", "zip"]))
def test_damage_anywhere_is_a_verdict(
    tmp_path_factory: pytest.TempPathFactory, place: int, damage: bytes, kind: str
) -> None:
    buffer = io.BytesIO()
    if kind == "tar":
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            add(archive, "p/a.cu", KERNEL.encode())
            add(archive, "p/b.cu", type=tarfile.SYMTYPE, linkname="a.cu")
    else:
        with zipfile.ZipFile(buffer, "w") as zipped:
            zipped.writestr("p/a.cu", KERNEL * 10)
    data = bytearray(buffer.getvalue())
    at = place % len(data)
    data[at : at + len(damage)] = damage
    path = tmp_path_factory.getbasetemp() / f"damaged.{kind}"
    path.write_bytes(data)
    with contextlib.suppress(RejectedError):
        assert not any(name.startswith("/") for name in read(path).sizes)
