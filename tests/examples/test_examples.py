"""Static checks of the example programs and of the table that lists them.

That they compile, run and agree with their own references is the pipeline's business.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAMS = sorted((EXAMPLES / "cuda").glob("*.cu"))

ROW = re.compile(
    r"^\| \[`(?P<name>\w+\.cu)`\]\((?P<link>[^)]+)\) "
    r"\| (?P<domain>[^|]+) \| (?P<features>[^|]+) \|$"
)
IDENTIFIER = re.compile(r"`(\w+)`")
FIRST_LINE = "// SPDX-License-Identifier: MIT"
HEADERS = {
    "cooperative_groups.h",
    "cuda_fp16.h",
    "cuda_runtime.h",
}
# What would make the text differ from run to run, or from machine to machine.
UNSTABLE = re.compile(
    r"%p|cudaGetDeviceProperties|cudaDeviceGetName|cudaEventElapsedTime|clock64|\bclock\(|"
    r"\btime\(|chrono|gettimeofday|random_device|\brand\(|getenv|cudaMemGetInfo"
)


def table_rows() -> list[dict[str, str]]:
    lines = (EXAMPLES / "README.md").read_text().splitlines()
    return [match.groupdict() for line in lines if (match := ROW.match(line))]


def code_of(path: Path) -> str:
    """The program without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


def test_table_covers_enough_programs_and_domains() -> None:
    rows = table_rows()
    assert len(rows) >= 24
    assert len({row["domain"] for row in rows}) >= 12


def test_table_and_folder_agree() -> None:
    names = [row["name"] for row in table_rows()]
    assert names == [path.name for path in PROGRAMS]


def test_folder_holds_programs_only() -> None:
    assert sorted(path for path in (EXAMPLES / "cuda").iterdir()) == PROGRAMS


@pytest.mark.parametrize("row", table_rows(), ids=lambda row: row["name"])
def test_row_links_to_a_program_that_uses_what_it_names(row: dict[str, str]) -> None:
    path = EXAMPLES / row["link"]
    assert path.name == row["name"]
    words = set(re.findall(r"\w+", code_of(path)))
    named = set(IDENTIFIER.findall(row["features"]))
    assert named <= words


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_program_starts_with_licence_and_description(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert lines[0] == FIRST_LINE
    assert lines[1] == "//"
    description = []
    for line in lines[2:]:
        if not line.startswith("// "):
            break
        description.append(line)
    assert 2 <= len(description) <= 4


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_program_stands_alone(path: Path) -> None:
    text = path.read_text()
    assert '#include "' not in text
    included = set(re.findall(r"#include <([\w.]+)>", text))
    assert "cuda_runtime.h" in included
    own = {name for name in included if name.startswith(("cu", "cooperative_groups"))}
    assert own <= HEADERS
    assert 60 <= text.count("\n") <= 200
    assert max(len(line) for line in text.splitlines()) <= 100


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_program_launches_a_kernel_and_checks_it(path: Path) -> None:
    code = code_of(path)
    assert "__global__ void" in code
    assert "<<<" in code
    assert len(re.findall(r"^int main\((?:void)?\) \{$", code, re.MULTILINE)) == 1
    assert "#define CUDA_CHECK(" in code
    assert "CUDA_CHECK(cudaGetLastError())" in code
    assert "PASS" in code
    assert re.search(r"return 1;|result = 1;", code)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_every_runtime_call_is_checked(path: Path) -> None:
    """Destructors apart, which can only ignore an error."""
    code = re.sub(r"~\w+\(\) \{[^}]*\}", "", code_of(path))
    calls = re.findall(r"^.*\bcuda(?:Malloc|Memcpy|Memset|Free|Event|Stream)\w*\(.*$", code, re.M)
    assert calls
    assert [line.strip() for line in calls if "CUDA_CHECK(" not in line] == []


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_program_prints_nothing_that_varies(path: Path) -> None:
    assert UNSTABLE.findall(code_of(path)) == []


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_program_prints_floating_point_with_few_digits_in_its_summary(path: Path) -> None:
    """Lines about a mismatch may show all digits: they end the program with 1."""
    formats = re.findall(r'printf\("((?:[^"\\]|\\.)*)"', code_of(path))
    assert formats
    for text in formats:
        if "expected" in text or "too far" in text:
            continue
        assert re.findall(r"%[-\d]*[fge]", text) == []
        assert all(int(digits) <= 6 for digits in re.findall(r"%[-\d]*\.(\d+)[fge]", text))
