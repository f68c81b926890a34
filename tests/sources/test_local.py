"""CUDA in a folder, friendly and not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cass_pipeline.errors import InputError
from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import Candidate
from cass_pipeline.sources.local import collect_folder
from cass_pipeline.sources.settings import PathFilter
from cass_pipeline.units import Origin
from tests.sources.trees import KERNEL, MIT, reasons, unit_of, write

HOSTILE_NAMES = ["$(touch x); `id` & .cu", "new\nline.cu", "-rf.cu", "ünï 中.cu", "a" * 252 + ".cu"]


def test_each_cu_file_is_one_candidate(tmp_path: Path) -> None:
    root = write(
        tmp_path / "code",
        {
            "a.cu": KERNEL,
            "deep/b.cu": '#include "h.cuh"',
            "deep/h.cuh": KERNEL,
            "empty.cu": "",
            "binary.cu": b"\0\1",
            "out.cu": '#include "../../x.h"',
            "c.cpp": "",
            "LICENSE": MIT,
            ".git/hidden.cu": KERNEL,
        },
    )
    found = list(collect_folder(root))
    assert reasons(found) == {
        "a.cu": "kept",
        "binary.cu": "undecodable",
        "deep/b.cu": "kept",
        "empty.cu": "empty",
        "out.cu": "include_outside_tree",
    }
    unit = unit_of(found[2])
    assert sorted(unit.tree.files) == ["b.cu", "h.cuh"]
    assert unit.origin == Origin(
        "local", "code", "", "deep/b.cu", "MIT", ("LICENSE: MIT (99% of the text)",)
    )


def test_globs_pick_candidates_but_headers_are_still_found(tmp_path: Path) -> None:
    write(tmp_path, {"a.cu": '#include "v/h.h"', "v/h.h": "", "v/b.cu": KERNEL, "t/c.cuh": KERNEL})
    paths = PathFilter(include=("*.cu", "*.cuh"), exclude=("v/*",))
    found = list(collect_folder(tmp_path, paths=paths))
    assert reasons(found) == {"a.cu": "kept", "t/c.cuh": "kept"}
    assert sorted(unit_of(found[0]).tree.files) == ["a.cu", "v/h.h"]


def test_a_stated_licence_replaces_what_is_found(tmp_path: Path) -> None:
    (candidate,) = collect_folder(write(tmp_path, {"a.cu": KERNEL}), licence="ISC")
    assert candidate.origin.licence == "ISC"
    assert candidate.origin.licence_evidence == ("stated in the settings",)


def test_a_folder_without_cuda_says_so(tmp_path: Path) -> None:
    (candidate,) = collect_folder(write(tmp_path, {"a.c": ""}))
    assert (candidate.origin.path, candidate.verdict.reason) == ("", Reason.NO_CUDA_FILES)


def test_a_folder_that_is_not_there_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        list(collect_folder(tmp_path / "gone"))


def test_links_and_pipes(tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.cu": KERNEL})
    root = write(tmp_path / "in", {"real/a.cu": KERNEL})
    (root / "inside.cu").symlink_to("real/a.cu")
    (root / "outside.cu").symlink_to(tmp_path / "outside/secret.cu")
    (root / "dangling.cu").symlink_to("nowhere.cu")
    (root / "loop.cu").symlink_to("loop.cu")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "again").symlink_to("real")
    os.mkfifo(root / "pipe.cu")
    assert reasons(list(collect_folder(root))) == {
        "dangling.cu": "path_escapes",
        "folder/": "path_escapes",
        "inside.cu": "kept",
        "loop.cu": "path_escapes",
        "outside.cu": "path_escapes",
        "pipe.cu": "path_escapes",
        "real/a.cu": "kept",
    }


def test_a_header_behind_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"secret.h": "secret"})
    root = write(tmp_path / "in", {"a.cu": '#include "x.h"'})
    (root / "x.h").symlink_to("../secret.h")
    (candidate,) = collect_folder(root)
    assert unit_of(candidate).tags.unresolved_includes == ("x.h",)


def test_a_file_that_is_gone_when_it_is_read_can_be_tried_again(tmp_path: Path) -> None:
    found = collect_folder(write(tmp_path, {"a.cu": KERNEL, "b.cu": KERNEL}))
    next(found)
    (tmp_path / "b.cu").unlink()
    assert next(found).verdict.reason is Reason.SOURCE_UNAVAILABLE


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_are_only_names(tmp_path: Path, name: str) -> None:
    (candidate,) = collect_folder(write(tmp_path, {name: KERNEL}))
    assert unit_of(candidate).tree.main_path == name == candidate.origin.path


def test_names_that_are_no_utf8_can_be_stored(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.cu")).write_text(KERNEL)
    (candidate,) = collect_folder(tmp_path)
    assert unit_of(candidate).tree.main_path == "\\xff.cu"


def test_a_unit_goes_with_a_kept_verdict_only() -> None:
    origin = Origin("local", "x", "", "a.cu")
    with pytest.raises(ValueError, match="kept"):
        Candidate(origin, Candidate.because(origin, Reason.EMPTY).verdict.kept())
