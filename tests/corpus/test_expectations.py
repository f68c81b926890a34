from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from cass_pipeline.corpus.expectations import SuiteReport, validate
from cass_pipeline.corpus.projection import project_kernels, project_pairs
from cass_pipeline.corpus.suites import Bounds, Expectation, kernel_suite, pair_suite

from .samples import RESOURCES, VERIFICATION, Row, kernel, pair, write_kernels, write_pairs

BOUNDS = Bounds(licences=("MIT",), sm_arches=("sm_80",), gfx_arches=("gfx1100",))
BUILD = "/scratch/build-7"
KERNEL: Row = {"name": "k", "demangled": "k()", **RESOURCES}


def checked_pairs(folder: Path, rows: list[Row]) -> SuiteReport:
    projection = project_pairs([write_pairs(folder / "pairs.parquet", rows)], [BUILD])
    return validate(projection, pair_suite(BOUNDS), folder / "report" / "pairs.html")


def checked_kernels(folder: Path, rows: list[Row]) -> SuiteReport:
    projection = project_kernels([write_kernels(folder / "kernels.parquet", rows)], [BUILD])
    return validate(projection, kernel_suite(BOUNDS), folder / "kernels.html")


def test_sound_pairs_fulfil_everything(tmp_path: Path) -> None:
    report = checked_pairs(tmp_path, [pair("a"), pair("b", level="compiled")])
    assert [result for result in report.results if not result.success] == []
    assert (report.suite, report.rows, report.success) == ("pairs", 2, True)
    assert "licence_evidence" in report.report.read_text(encoding="utf-8")


def test_sound_kernels_fulfil_everything(tmp_path: Path) -> None:
    report = checked_kernels(tmp_path, [kernel("a"), kernel("a", name="other"), kernel("b")])
    assert [result for result in report.results if not result.success] == []


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"unit_id": None}, "unit_id"),
        ({"cluster_id": None}, "cluster_id"),
        ({"licence": "GPL-3.0-only"}, "licence"),
        ({"licence": None}, "licence"),
        ({"licence_evidence": []}, "licence_evidence"),
        ({"level": "guessed"}, "level"),
        ({"verification": None}, "level"),
        ({"verification": VERIFICATION | {"seeds": []}}, "incomplete_match"),
        ({"verification": VERIFICATION | {"inputs": None}}, "incomplete_match"),
        ({"verification": VERIFICATION | {"hip_device": None}}, "incomplete_match"),
        ({"cuda_source": ""}, "cuda_chars"),
        ({"hip_source": None}, "hip_chars"),
        ({"sass": []}, "sass_arches"),
        ({"sass": None}, "sass_chars"),
        ({"rdna3": [{"arch": "gfx1030", "listing": "s_endpgm"}]}, "rdna3_arches"),
        ({"rdna3": [{"arch": "gfx1100", "listing": " \n"}]}, "empty_listings"),
        ({"kernels": []}, "common_kernels"),
        ({"kernels": None}, "common_kernels"),
        ({"ptx": f'.file 1 "{BUILD}/main.cu"'}, "names_build_path"),
        ({"sass": [{"arch": "sm_80", "listing": f"// {BUILD}"}]}, "names_build_path"),
    ],
)
def test_a_pair_that_breaks_a_rule_stops_the_release(
    tmp_path: Path, changed: Row, column: str
) -> None:
    report = checked_pairs(tmp_path, [pair("a"), pair("b", **changed)])
    assert not report.success
    failed = {result.expectation.column: result for result in report.failed("critical")}
    assert failed[column].failing_ids == ("b",)
    assert failed[column].unexpected == 1
    assert failed[column].error is None


def test_a_repeated_id_stops_the_release(tmp_path: Path) -> None:
    (failed,) = checked_pairs(tmp_path, [pair("a"), pair("a")]).failed("critical")
    assert failed.expectation.kind == "ExpectColumnValuesToBeUnique"
    assert failed.failing_ids == ("a", "a")


def test_what_is_only_doubtful_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    report = checked_pairs(tmp_path, [pair("a", ptx=None, domain=None)])
    assert report.success
    assert [result.expectation.column for result in report.failed("warning")] == [
        "ptx_chars",
        "domain",
    ]


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"kernel": None}, "kernel"),
        ({"sass": None}, "sass_chars"),
        ({"sm_arch": "sm_10"}, "sm_arch"),
        ({"gfx_arch": None}, "gfx_arch"),
        ({"hip_resources": None}, "hip_instructions"),
        ({"verification_level": None}, "level"),
        ({"rdna3": f"; {BUILD}"}, "names_build_path"),
    ],
)
def test_a_kernel_that_breaks_a_rule_stops_the_release(
    tmp_path: Path, changed: Row, column: str
) -> None:
    report = checked_kernels(tmp_path, [kernel("a"), kernel("b", **changed)])
    assert column in {result.expectation.column for result in report.failed("critical")}


def test_source_text_may_name_any_path(tmp_path: Path) -> None:
    source = pair("a", f'const char *log = "{BUILD}/log"; __global__ void k() {{}}')
    assert checked_pairs(tmp_path, [source]).success


def test_what_cannot_be_evaluated_has_failed_and_says_why(tmp_path: Path) -> None:
    suite = replace(
        pair_suite(BOUNDS),
        expectations=(Expectation("no_such", "ExpectColumnValuesToNotBeNull", "It is there."),),
    )
    projection = pl.DataFrame({"pair_id": ["a"]})
    (failed,) = validate(projection, suite, tmp_path / "report.html").failed("critical")
    assert failed.error is not None
    assert 'column "no_such"' in failed.error


def test_validation_is_silent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        checked_pairs(tmp_path, [pair("a")])
    assert seen == []
    assert capfd.readouterr() == ("", "")


def test_no_rows_are_sound(tmp_path: Path) -> None:
    assert checked_pairs(tmp_path, []).success
