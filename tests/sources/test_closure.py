"""What a unit takes along; each test is one rule of the look-up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.closure import Closure, TreeIndex, closure_of
from cass_pipeline.sources.settings import UnitLimits
from tests.sources.trees import tree_of


def closure(
    files: Mapping[str, str | bytes], main: str, limits: UnitLimits | None = None
) -> Closure:
    limits = limits or UnitLimits()
    return closure_of(TreeIndex(tree_of(files), limits), main, limits)


def rejected(
    files: Mapping[str, str | bytes], main: str, limits: UnitLimits | None = None
) -> Reason:
    with pytest.raises(RejectedError) as caught:
        closure(files, main, limits)
    return caught.value.reason


def test_a_file_alone_is_its_own_unit() -> None:
    unit = closure({"deep/down/a.cu": "int x;", "deep/down/b.h": ""}, "deep/down/a.cu")
    assert dict(unit.tree.files) == {"a.cu": "int x;"}
    assert (unit.tree.main_path, unit.tree.include_dirs) == ("a.cu", ())


def test_quotes_look_beside_the_including_file_first() -> None:
    files = {"s/a.cu": '#include "x.h"', "s/x.h": '#include "t/y.h"', "s/t/y.h": "", "x.h": "other"}
    unit = closure(files, "s/a.cu")
    assert sorted(unit.tree.files) == ["a.cu", "t/y.h", "x.h"]
    assert unit.tree.include_dirs == ()


def test_an_include_directory_is_inferred_from_the_path_that_ends_so() -> None:
    files = {"p/src/a.cu": "#include <lib/x.h>", "p/include/lib/x.h": ""}
    unit = closure(files, "p/src/a.cu")
    assert sorted(unit.tree.files) == ["include/lib/x.h", "src/a.cu"]
    assert unit.tree.include_dirs == ("include",)


def test_the_nearest_of_two_headers_wins_whatever_the_order() -> None:
    files = {"a/include/x.h": "far", "b/include/x.h": "near", "b/src/a.cu": '#include "x.h"'}
    for order in (files, dict(reversed(files.items()))):
        assert closure(order, "b/src/a.cu").tree.files["include/x.h"] == "near"


def test_a_directory_once_chosen_serves_later_includes_as_it_would_the_compiler() -> None:
    files = {
        "src/a.cu": '#include "one.h"\n#include "deep/b.cuh"',
        "src/deep/b.cuh": '#include "two.h"',
        "inc/one.h": "",
        "inc/two.h": "chosen",
        "src/deep/other/two.h": "nearer, but behind inc",
    }
    unit = closure(files, "src/a.cu")
    assert unit.tree.include_dirs == ("inc",)
    assert "inc/two.h" in unit.tree.files


def test_the_root_of_the_tree_can_be_an_include_directory() -> None:
    unit = closure({"src/a.cu": "#include <src/x.h>", "src/x.h": ""}, "src/a.cu")
    assert sorted(unit.tree.files) == ["src/a.cu", "src/x.h"]
    assert unit.tree.include_dirs == (".",)


def test_equal_code_at_another_depth_is_an_equal_unit() -> None:
    files = {"src/a.cu": '#include "../inc/x.h"', "inc/x.h": "int x;"}
    deeper = {f"vendor/lib/{path}": text for path, text in files.items()}
    first = closure(files, "src/a.cu").tree
    second = closure(deeper, "vendor/lib/src/a.cu").tree
    assert first.digest() == second.digest()


def test_folders_that_an_include_climbs_through_stay() -> None:
    files = {"p/s/a.cu": '#include "../../p/s/x.h"', "p/s/x.h": ""}
    assert sorted(closure(files, "p/s/a.cu").tree.files) == ["p/s/a.cu", "p/s/x.h"]


def test_includes_under_an_if_and_cycles_are_followed() -> None:
    files = {"a.cu": '#ifdef HIP\n#include "x.h"\n#endif', "x.h": '#include "a.cu"'}
    assert sorted(closure(files, "a.cu").tree.files) == ["a.cu", "x.h"]


def test_standard_and_cuda_headers_are_the_toolchains() -> None:
    files = {"a.cu": "#include <vector>\n#include <cub/cub.cuh>", "vector": "", "cub/cub.cuh": ""}
    unit = closure(files, "a.cu")
    assert (list(unit.tree.files), unit.unresolved) == (["a.cu"], ())


def test_a_header_of_a_standard_name_is_the_trees_where_quotes_find_it() -> None:
    files = {"a.cu": '#include "vendors/cuda.h"', "vendors/cuda.h": "#include <cuda.h>"}
    unit = closure(files, "a.cu")
    assert sorted(unit.tree.files) == ["a.cu", "vendors/cuda.h"]
    assert unit.tree.include_dirs == ()


def test_a_file_that_includes_its_own_name_means_another() -> None:
    files = {"a.cu": '#include "vendors/musa.h"', "vendors/musa.h": "#include <musa.h>"}
    unit = closure(files, "a.cu")
    assert (unit.tree.include_dirs, unit.unresolved) == ((), ("musa.h",))


def test_what_is_found_nowhere_is_reported() -> None:
    text = '#include <torch/all.h>\n#include "gone.h"\n#include_next <x.h>\n#include MACRO'
    assert closure({"a.cu": text, "b/x.h": ""}, "a.cu").unresolved == (
        "gone.h",
        "torch/all.h",
        "x.h",
    )


def test_kernels_of_headers_count() -> None:
    files = {"a.cu": '#include "k.cuh"', "k.cuh": "__global__ void k() {}"}
    assert closure(files, "a.cu").kernels == 1


@pytest.mark.parametrize(
    "include", ['"/etc/passwd"', "</usr/include/x.h>", '"C:\\\\x.h"', '"../../x.h"', "<../../x.h>"]
)
def test_includes_that_lead_out_of_the_tree_are_refused(include: str) -> None:
    files = {"src/a.cu": f"#include {include}", "x.h": ""}
    assert rejected(files, "src/a.cu") is Reason.INCLUDE_OUTSIDE_TREE


def test_limits() -> None:
    files = {"a.cu": '#include "b.h"', "b.h": '#include "c.h"', "c.h": "int x;"}
    assert rejected(files, "a.cu", UnitLimits(file_bytes=5)) is Reason.TOO_LARGE
    assert rejected(files, "a.cu", UnitLimits(closure_files=2)) is Reason.CLOSURE_TOO_LARGE
    assert rejected(files, "a.cu", UnitLimits(closure_bytes=20)) is Reason.CLOSURE_TOO_LARGE
    assert len(closure(files, "a.cu", UnitLimits(closure_files=3)).tree.files) == 3


def test_a_header_over_the_limit_is_left_out_and_reported() -> None:
    files = {"a.cu": '#include "b.h"', "b.h": "x" * 100}
    assert closure(files, "a.cu", UnitLimits(file_bytes=50)).unresolved == ("b.h",)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.cu": " \n\t"}, Reason.EMPTY),
        ({"a.cu": b""}, Reason.EMPTY),
        ({"a.cu": b"\x00\x01"}, Reason.UNDECODABLE),
        ({"a.cu": '#include "b.h"', "b.h": b"\xff\xff\xff"}, Reason.UNDECODABLE),
    ],
)
def test_files_that_are_no_source(files: Mapping[str, str | bytes], reason: Reason) -> None:
    assert rejected(files, "a.cu") is reason
