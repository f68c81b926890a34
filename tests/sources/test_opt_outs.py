"""The list of requests: what an entry takes out, and what is said about mistakes."""

from __future__ import annotations

import hashlib
import subprocess
from datetime import date
from pathlib import Path

import pytest

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.sources.opt_outs import OptOut, OptOuts, read_opt_outs
from cass_pipeline.units import SourceFile

DEFAULT = Path(__file__).parents[2] / "config" / "opt_outs.yaml"
DAY = date(2026, 12, 4)
URL = "https://github.com/Owner/name"


def read(folder: Path, text: str) -> OptOuts:
    path = folder / "opt_outs.yaml"
    path.write_text(text)
    return read_opt_outs(path)


def test_a_full_file(tmp_path: Path) -> None:
    text = f"""
    opt_outs:
      - {{repository: Owner/name, date: 2026-12-04, reason: asked by mail}}
      - {{repository: Owner/name, path: "src/*", date: 2026-12-04}}
      - {{unit_id: {"a" * 64}, date: 2026-12-04}}
      - {{content: "swh:1:cnt:{"B" * 40}", date: 2026-12-04}}
    """
    assert read(tmp_path, text).entries == (
        OptOut(DAY, repository="Owner/name", reason="asked by mail"),
        OptOut(DAY, repository="Owner/name", path="src/*"),
        OptOut(DAY, unit_id="a" * 64),
        OptOut(DAY, content="b" * 40),
    )


def test_the_default_list_is_empty(tmp_path: Path) -> None:
    assert read_opt_outs(DEFAULT) == read(tmp_path, "") == OptOuts()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "cannot be read as YAML"),
        ("opt_out: []", "must have the one key `opt_outs`"),
        ("opt_outs: x", "must be a list"),
        ("opt_outs: [x]", r"opt_outs\[0\]: must have keys and values"),
        ("opt_outs: [{repo: a, date: 2026-12-04}]", "unknown key 'repo'"),
        ("opt_outs: [{repository: a}]", "give the day"),
        ("opt_outs: [{repository: a, date: soon}]", "give the day"),
        ("opt_outs: [{path: a, date: 2026-12-04}]", "give one of repository"),
        ("opt_outs: [{repository: a, unit_id: b, date: 2026-12-04}]", "give one of repository"),
        ("opt_outs: [{unit_id: abc, date: 2026-12-04}]", "unit_id must be 64"),
        (
            "opt_outs: [{content: 12, date: 2026-12-04}]",
            'content must be text; write content: "12"',
        ),
        ("opt_outs: [{content: abc, date: 2026-12-04}]", "content must be a SHA-1"),
        ("opt_outs: [{repository: '', date: 2026-12-04}]", "repository must be text"),
    ],
)
def test_mistakes_are_named_with_their_place_and_remedy(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path, text)


def test_a_missing_list_is_a_mistake_and_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.yaml: there is no list of opt-outs"):
        read_opt_outs(tmp_path / "gone.yaml")


@pytest.mark.parametrize("entry", [URL, "Owner/name", "owner/NAME.git", f"{URL}.git/"])
@pytest.mark.parametrize("name", [URL, "git://me@github.com/owner/name.git", f"{URL}/"])
def test_a_repository_is_known_under_many_spellings(entry: str, name: str) -> None:
    assert OptOuts((OptOut(DAY, entry),)).of_source(name)


@pytest.mark.parametrize("name", ["https://github.com/other/name", "name", "owner/name2", ""])
def test_another_repository_is_not_meant(name: str) -> None:
    assert OptOuts((OptOut(DAY, "owner/name"),)).of_source(name) is None


def test_a_package_is_known_under_its_spellings() -> None:
    assert OptOuts((OptOut(DAY, "My_Package"),)).of_source("my-package")


def test_a_path_takes_out_its_files_alone() -> None:
    opt_outs = OptOuts((OptOut(DAY, "o/n", path="src/*"),))
    assert opt_outs.of_source("o/n") is None
    assert opt_outs.of_file("o/n", "src/deep/a.cu")
    assert opt_outs.of_file("o/n", "lib/a.cu") is None
    assert opt_outs.of_file("o/m", "src/a.cu") is None


def row(**changed: object) -> dict[str, object]:
    files = [{"path": "src/a.cu", "hashes": ["1" * 40]}, {"path": "inc/x.h", "hashes": ["2" * 40]}]
    names = {"unit_id": "u" * 64, "source_name": "o/n", "source_path": "src/a.cu"}
    return {**names, "source_files": files, **changed}


@pytest.mark.parametrize(
    "entry",
    [
        OptOut(DAY, "o/n"),
        OptOut(DAY, "o/n", path="src/a.cu"),
        OptOut(DAY, "o/n", path="inc/*"),
        OptOut(DAY, content="2" * 40),
        OptOut(DAY, unit_id="u" * 64),
    ],
)
def test_a_unit_is_taken_out_for_any_of_its_files(entry: OptOut) -> None:
    assert OptOuts((entry,)).of_row(row()) == entry
    assert OptOuts((entry,)).of_row(row(unit_id="v", source_name="x", source_files=[])) is None


def test_the_earliest_of_several_requests_is_named() -> None:
    early = OptOut(date(2025, 1, 1), unit_id="u" * 64)
    assert OptOuts((OptOut(DAY, "o/n"), early)).of_row(row()) == early


def test_a_corrected_date_is_the_same_request() -> None:
    entry = OptOut(DAY, URL, reason="a")
    assert entry.entry_id == OptOut(date(2025, 1, 1), "github.com/owner/name").entry_id


def test_content_is_named_as_git_and_as_archives_name_it(tmp_path: Path) -> None:
    data = b"__global__ void k() {}\n"
    (tmp_path / "a.cu").write_bytes(data)
    command = ["git", "hash-object", "--no-filters", str(tmp_path / "a.cu")]
    blob = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert SourceFile.of("a.cu", data).hashes == (hashlib.sha1(data).hexdigest(), blob)
