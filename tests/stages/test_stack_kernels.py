"""A dataset in the form of The Stack v2, from a folder: units, terms, opt-outs, repetition."""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.errors import ConfigurationError
from cass_pipeline.records import COLLECTED, OPT_OUTS, Row
from cass_pipeline.sources.bucket import BucketSettings
from cass_pipeline.sources.config import StackSpec
from cass_pipeline.sources.opt_outs import OptOut, OptOuts
from cass_pipeline.sources.select import Selection
from cass_pipeline.stage import StageReport
from cass_pipeline.stages import raw_kernels, stack_kernels
from cass_pipeline.store import CorpusStore
from tests.sources.stack_data import HEADER, KERNEL, StackDataset

TODAY = date(2026, 12, 4)


def short(row: Row) -> str:
    name: str = row["source_name"]
    return name.removeprefix("https://github.com/")


class Stack:
    """A dataset, its blobs in a folder, and the store that it is collected into."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = StackDataset(root / "dataset")
        self.store = CorpusStore(root / "home")
        self.lines: list[str] = []

    def spec(self, **settings: Any) -> StackSpec:
        usual: dict[str, Any] = {
            "dataset": str(self.root / "dataset"),
            "configs": ("Cuda",),
            "header_configs": ("C++",) if "C++" in self.data.rows else (),
            "bucket": BucketSettings(location=str(self.root / "blobs")),
        }
        return StackSpec(**(usual | settings))

    def write(self) -> None:
        self.data.write()
        self.data.write_blobs(self.root / "blobs")

    def collect(self, *requests: OptOut, **settings: Any) -> StageReport:
        return stack_kernels.update(
            self.store,
            self.spec(**settings),
            self.root / "cache",
            Engine(self.root / "tmp"),
            self.lines.append,
            OptOuts(requests),
        )

    def rows(self) -> dict[str, Row]:
        rows = self.store.table("stack_kernels", COLLECTED).rows()
        return {f"{short(row)}:{row['source_path']}": row for row in rows}

    def reasons(self) -> dict[str, str | None]:
        return {name: row["reason"] for name, row in self.rows().items()}


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(tmp_path)


def test_units_are_rebuilt_with_the_headers_of_their_repository(stack: Stack) -> None:
    stack.data.kernels(2)
    stack.data.add("owner/other", "add.cuh", "#error of another repository\n", config="C++")
    stack.write()
    report = stack.collect()
    assert (report.rows_in, report.kept, report.computed) == (2, 2, 2)
    row = stack.rows()["owner/repository-1:src/kernel_1.cu"]
    texts = {Path(file["path"]).name: file["text"] for file in row["files"]}
    assert texts == {"kernel_1.cu": KERNEL.format(name=1), "add.cuh": HEADER + "// 1\n"}
    assert row["licence"] == "MIT"
    assert row["licence_evidence"] == [
        "src/kernel_1.cu: The Stack: MIT",
        "include/add.cuh: The Stack: MIT",
    ]
    assert (row["source"], row["source_revision"]) == ("stack", "5" * 40)
    assert row["unresolved_includes"] == []


def test_what_is_known_is_not_fetched_again(stack: Stack) -> None:
    stack.data.kernels(2)
    stack.write()
    stack.collect()
    for blob in (stack.root / "blobs").iterdir():
        blob.unlink()
    assert stack.collect().computed == 0
    stack.data.blobs.clear()
    stack.data.kernels(1, first=2)
    stack.write()
    assert stack.collect().computed == 1
    assert len(stack.rows()) == 3
    # Another settings' work is found in the cache, too.
    stack.store.table("stack_kernels", COLLECTED).replace([], "")
    assert stack.collect().outcomes == {"kept": 3}


def test_a_repository_that_left_the_dataset_leaves_the_table(stack: Stack) -> None:
    stack.data.kernels(2)
    stack.write()
    stack.collect()
    for config in stack.data.rows:
        stack.data.rows[config].pop()
    stack.write()
    stack.collect()
    assert list(stack.rows()) == ["owner/repository-0:src/kernel_0.cu"]


def test_the_limit_takes_the_first_files_of_the_dataset(stack: Stack) -> None:
    stack.data.kernels(6)
    stack.write()
    for _ in range(2):
        assert stack.collect(max_files=2).kept == 2
        names = [short(row) for row in stack.rows().values()]
        assert sorted(names) == ["owner/repository-0", "owner/repository-2"]
    assert stack.collect(max_files=5).kept == 5


def test_only_what_the_dataset_calls_permissive_is_read(stack: Stack) -> None:
    add = stack.data.add
    add("a/none", "k.cu", KERNEL.format(name=1), license_type="no_license", detected_licenses=[])
    add("a/header", "k.cu", KERNEL.format(name=2))
    add("a/header", "add.cuh", HEADER, license_type="no_license", detected_licenses=[])
    add("a/gpl", "k.cu", "// SPDX-License-Identifier: GPL-3.0-only\n__global__ void f() {}\n")
    add("a/unnamed", "k.cu", "__global__ void g() {}\n", detected_licenses=[])
    add("a/two", "k.cu", "__global__ void h() {}\n", detected_licenses=["MIT", "Apache-2.0"])
    stack.write()
    (stack.root / "blobs" / stack.data.rows["Cuda"][0]["blob_id"]).unlink()
    stack.collect()
    assert stack.reasons() == {
        "a/none:k.cu": "licence_unknown",
        "a/header:k.cu": "licence_unknown",
        "a/gpl:k.cu": None,
        "a/unnamed:k.cu": None,
        "a/two:k.cu": None,
    }
    assert stack.rows()["a/header:k.cu"]["evidence"] == "add.cuh: The Stack: no_license"
    raw_kernels.update(stack.store, Selection(min_code_lines=1), stack.lines.append)
    selected = stack.store.table("raw_kernels", COLLECTED).rows()
    assert {short(row): (row["licence"], row["reason"]) for row in selected} == {
        "a/gpl": ("GPL-3.0-only AND MIT", "licence_not_permitted"),
        "a/unnamed": (None, "licence_unknown"),
        "a/two": ("Apache-2.0 AND MIT", None),
    }


def test_bytes_are_decoded_as_recorded(stack: Stack) -> None:
    add = stack.data.add
    text = "// ядро\n__global__ void f() {}\n"
    add("a/koi8", "k.cu", text, src_encoding="koi8-r")
    add("a/utf16", "k.cu", text, src_encoding="utf-16")
    add("a/wrong", "k.cu", text.encode("koi8-r"), src_encoding="utf-8")
    add("a/unheard", "k.cu", text.encode("koi8-r") + b"\n", src_encoding="utf-8")
    stack.data.rows["Cuda"][-1]["src_encoding"] = "x-unheard-of"
    add("a/unsaid", "k.cu", "__global__ void g() {}\n", src_encoding="utf-8")
    stack.data.rows["Cuda"][-1]["src_encoding"] = None
    stack.write()
    stack.collect()
    rows = stack.rows()
    for name in ("a/koi8:k.cu", "a/utf16:k.cu"):
        assert rows[name]["files"][0]["text"] == text
    assert rows["a/wrong:k.cu"]["reason"] == "undecodable"
    assert "x-unheard-of is no known encoding" in rows["a/unheard:k.cu"]["evidence"]
    assert rows["a/unsaid:k.cu"]["outcome"] == "kept"
    # The hashes by which an author names the file are those of its bytes.
    (file,) = rows["a/koi8:k.cu"]["source_files"]
    assert file["hashes"][0] == stack.data.rows["Cuda"][0]["blob_id"]


def test_damaged_and_missing_contents_have_reasons(stack: Stack) -> None:
    names = ("missing", "cut", "no_gzip", "other", "bomb", "large", "path")
    ids = {
        name: stack.data.add(f"a/{name}", "k.cu", f"__global__ void {name}() {{}}\n")
        for name in names
    }
    stack.data.rows["Cuda"][5]["length_bytes"] = 2**21
    stack.data.rows["Cuda"][6]["path"] = "/../k.cu"
    blobs = stack.data.blobs
    del blobs[ids["missing"]]
    blobs[ids["cut"]] = blobs[ids["cut"]][:-5]
    blobs[ids["no_gzip"]] = b"__global__ void no_gzip() {}\n"
    blobs[ids["other"]] = gzip.compress(b"__global__ void not_it() {}\n")
    blobs[ids["bomb"]] = gzip.compress(bytes(2**26))
    stack.write()
    report = stack.collect()
    assert report.adds_up
    assert stack.reasons() == {
        "a/missing:k.cu": "blob_missing",
        "a/cut:k.cu": "blob_corrupt",
        "a/no_gzip:k.cu": "blob_corrupt",
        "a/other:k.cu": "blob_corrupt",
        "a/bomb:k.cu": "too_large",
        "a/large:k.cu": "too_large",
        "a/path:../k.cu": "path_escapes",
    }


def test_opt_outs_are_not_fetched_and_leave_tombstones(stack: Stack) -> None:
    stack.data.kernels(4)
    stack.write()
    rows = stack.data.rows
    requests = [
        OptOut(TODAY, repository="https://github.com/owner/repository-0"),
        OptOut(TODAY, repository="owner/repository-1", path="include/*"),
        OptOut(TODAY, content=rows["Cuda"][2]["content_id"]),
    ]
    for blob_id in (rows["Cuda"][0], rows["C++"][1], rows["Cuda"][2]):
        (stack.root / "blobs" / blob_id["blob_id"]).unlink()
    for _ in range(2):
        report = stack.collect(*requests)
        assert report.reasons == {"opted_out": 3}
        assert report.kept == 1
        tombstones = list(stack.store.table("opt_outs", OPT_OUTS).rows())
        assert sorted(row["kind"] for row in tombstones) == ["content", "path", "repository"]
    assert report.computed == 0
    stack.write()
    assert stack.collect(*requests[1:]).kept == 2
    assert stack.collect().kept == 4
    assert not list(stack.store.table("opt_outs", OPT_OUTS).rows())


def test_a_later_opt_out_empties_what_was_collected(stack: Stack) -> None:
    stack.data.kernels(2)
    stack.write()
    stack.collect()
    report = stack.collect(OptOut(TODAY, repository="owner/repository-0"))
    assert report.reasons == {"opted_out": 1}
    assert stack.rows()["owner/repository-0:src/kernel_0.cu"]["files"] is None


def test_what_the_dataset_calls_generated_is_tagged(stack: Stack) -> None:
    stack.data.add("a/a", "k.cu", "__global__ void f() {}\n", is_generated=True)
    stack.write()
    stack.collect()
    assert stack.rows()["a/a:k.cu"]["generated"] is True


def test_without_a_dataset_the_table_is_empty_and_says_how_to_turn_it_on(stack: Stack) -> None:
    stack.data.kernels(1)
    stack.write()
    stack.collect()
    engine = Engine(stack.root / "tmp")
    report = stack_kernels.update(
        stack.store, None, stack.root / "cache", engine, stack.lines.append
    )
    assert (report.rows_in, report.outcomes) == (0, {})
    assert "`stack:` in config/sources.yaml" in stack.lines[-1]


def test_a_folder_of_a_dataset_is_a_configuration_too(stack: Stack) -> None:
    stack.data.kernels(1)
    stack.write()
    (stack.root / "dataset" / "README.md").unlink()
    assert stack.collect(configs=("data/Cuda",), header_configs=("data/C++",)).kept == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"configs": ("Fortran",)}, "Fortran"),
        ({"split": "test"}, "test"),
        ({"configs": ("data/Fortran",)}, "data/Fortran"),
        ({"bucket": BucketSettings(location="http://host/a")}, "no bucket"),
    ],
)
def test_wrong_settings_are_named(stack: Stack, settings: dict[str, Any], message: str) -> None:
    stack.data.kernels(1)
    stack.write()
    with pytest.raises(ConfigurationError, match=message):
        stack.collect(**settings)


def test_a_dataset_of_another_form_is_refused(stack: Stack) -> None:
    folder = stack.root / "dataset"
    folder.mkdir()
    (folder / "rows.jsonl").write_text(json.dumps({"repo_name": "a/b", "path": "k.cu"}) + "\n")
    with pytest.raises(ConfigurationError, match="not in the form of The Stack v2"):
        stack.collect(configs=("default",), header_configs=())
