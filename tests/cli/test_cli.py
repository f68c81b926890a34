"""`cass` as a program: output, exit codes, JSON, and errors that name the input and the remedy."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import BIN, KERNEL

BAD_ASM = '__global__ void k(int *p) { asm("wgmma.fence.sync.aligned;"); *p = 1; }\nint main() {}\n'


def cass(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "cass", *map(str, arguments)], cwd=cwd, capture_output=True, text=True
    )


def as_json(done: subprocess.CompletedProcess[str]) -> Any:
    """The one JSON object on standard output."""
    return json.loads(done.stdout)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "add.cu"
    path.write_text(KERNEL.format(number=1))
    return path


def test_translate_prints_hip(program: Path) -> None:
    done = cass("translate", program, cwd=program.parent)
    assert done.returncode == 0
    assert "hipMalloc(&values" in done.stdout
    assert "#include <hip/hip_runtime.h>" in done.stdout
    assert done.stderr.startswith("findings: ")


def test_translate_writes_a_file_or_a_folder(program: Path) -> None:
    folder = program.parent
    (folder / "part.h").write_text("inline int part() { return cudaSuccess; }\n")
    program.write_text('#include "part.h"\n' + program.read_text())
    assert cass("translate", program, "-o", "out/add.hip", cwd=folder).returncode == 0
    assert cass("translate", program, "-o", "tree", cwd=folder).returncode == 0
    for name in ("out", "tree"):
        assert "hipSuccess" in (folder / name / "part.h").read_text()
        assert "hipMalloc" in (folder / name / "add.hip").read_text()


def test_translate_never_overwrites_its_input(program: Path) -> None:
    folder = program.parent
    (folder / "part.h").write_text("inline int part() { return cudaSuccess; }\n")
    program.write_text('#include "part.h"\n' + program.read_text())
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for output in ("add.cu", "out.hip", "."):
        done = cass("translate", program, "-o", output, cwd=folder)
        assert done.returncode == 2
        assert "would be overwritten" in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_what_cannot_be_translated_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.cu"
    path.write_text(BAD_ASM)
    done = cass("translate", path, cwd=tmp_path)
    assert done.returncode == 1
    assert "bad.cu:1: error: " in done.stderr
    assert "wgmma" in done.stdout
    found = as_json(cass("translate", path, "--json", cwd=tmp_path))
    assert [f["line"] for f in found["findings"] if f["severity"] == "error"] == [1]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("none.cu", None, "is not a file"),
        ("empty.cu", b"", "nothing but white space"),
        ("binary.cu", b"\0\1\2", "not text"),
        ("large.cu", b"// padding\n" * 200_000, "larger than"),
        ("passwd.cu", b'#include "/etc/passwd"\n', "absolute path"),
    ],
)
@pytest.mark.parametrize("command", ["translate", "compile"])
def test_bad_input_is_named(
    tmp_path: Path, command: str, name: str, data: bytes | None, message: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = cass(command, name, "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert name in done.stderr
    assert message in done.stderr
    assert as_json(done)["error"]["kind"] == "InputError"


@pytest.mark.usefixtures("toolchain_cache")
def test_compile_shows_kernels_and_writes_artefacts(program: Path) -> None:
    folder = program.parent
    done = cass("compile", program, "--arch", "sm_80", "-o", "out", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (kernel,) = as_json(done)["kernels"]
    assert kernel["demangled"] == "add_1(int, int*)"
    assert kernel["registers"] > 0
    assert {path.name for path in (folder / "out").iterdir()} == {
        "add.host.s",
        "add.ptx",
        "add.sm_80.sass",
        "add.sm_80.cubin",
    }
    assert cass("translate", program, "-o", "add.hip", cwd=folder).returncode == 0
    done = cass("compile", "add.hip", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "add_1(int, int*)" in done.stdout
    assert (folder / "out" / "add.gfx1100.co").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.usefixtures("toolchain_cache")
def test_compile_errors_are_shown(tmp_path: Path) -> None:
    (tmp_path / "broken.cu").write_text("__global__ void k() { undeclared; }\n")
    done = cass("compile", "broken.cu", cwd=tmp_path)
    assert done.returncode == 1
    assert "undeclared" in done.stderr


def test_wrong_use_is_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    assert cass("compile", "a.txt", cwd=tmp_path).returncode == 2
    assert cass("translate", cwd=tmp_path).returncode == 2
    assert cass("nonsense", cwd=tmp_path).returncode == 2


def test_a_missing_toolchain_is_exit_code_3_with_the_remedy(program: Path) -> None:
    folder = program.parent
    done = cass("toolchain", "status", "--cache", "empty", "--json", cwd=folder)
    assert done.returncode == 3
    assert not as_json(done)["complete"]
    assert "cass toolchain install" in done.stdout
    done = cass("compile", program, "--cache", "empty", cwd=folder)
    assert done.returncode == 3
    assert "cass toolchain install" in done.stderr


@pytest.mark.usefixtures("toolchain_cache")
def test_toolchain_status_says_what_isolates_the_compilers(tmp_path: Path) -> None:
    done = cass("toolchain", "status", "--json", cwd=tmp_path)
    assert done.returncode == 0
    status = as_json(done)
    assert status["complete"]
    assert "limits" in status["isolation"]


def test_ledger_of_nothing_says_where_it_looked(tmp_path: Path) -> None:
    done = cass("ledger", cwd=tmp_path)
    assert done.returncode == 1
    assert str(tmp_path / "var") in done.stderr
