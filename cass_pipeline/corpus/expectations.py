"""Runs a suite with Great Expectations on a projection, and reports in plain values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cass_pipeline.corpus.suites import Expectation, Severity, Suite

_FAILING_IDS = 20


@dataclass(frozen=True)
class ExpectationResult:
    """What became of one expectation."""

    expectation: Expectation
    success: bool
    unexpected: int
    """Number of rows that do not fulfil it."""
    failing_ids: tuple[str, ...]
    """The first of those rows, at most twenty."""
    error: str | None
    """What went wrong where the expectation could not be evaluated: it counts as failed."""


@dataclass(frozen=True)
class SuiteReport:
    """What became of a suite."""

    suite: str
    rows: int
    results: tuple[ExpectationResult, ...]
    """In the order of the suite."""
    report: Path
    """The HTML page that was written."""

    @property
    def success(self) -> bool:
        """No critical expectation failed."""
        return not self.failed("critical")

    def failed(self, severity: Severity) -> tuple[ExpectationResult, ...]:
        """The failed expectations of one severity."""
        return tuple(
            result
            for result in self.results
            if not result.success and result.expectation.severity == severity
        )


def validate(projection: pl.DataFrame, suite: Suite, report: Path) -> SuiteReport:
    """Checks every expectation of `suite` and writes Great Expectations' HTML page.

    Args:
        projection: small columns, see `cass_pipeline.corpus.projection`.
        suite: what to expect.
        report: path of the HTML page; its folder is created where missing.
    """
    # Great Expectations 1.24 imports deprecated modules of the standard library.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validation = _validated(projection, suite)
        page = _page(validation)
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(page, encoding="utf-8")
    # It lists failures before successes; `place` is ours, see `_suite`.
    places = {result.expectation_config.meta["place"]: result for result in validation.results}
    results = (
        _result(expectation, places[place], suite.id_column)
        for place, expectation in enumerate(suite.expectations)
    )
    return SuiteReport(suite.name, projection.height, tuple(results), report)


def _validated(projection: pl.DataFrame, suite: Suite) -> Any:
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    context.enable_analytics(False)
    asset = context.data_sources.add_pandas("projection").add_dataframe_asset(suite.name)
    batch = asset.add_batch_definition_whole_dataframe("all rows").get_batch(
        batch_parameters={"dataframe": projection.to_pandas()}
    )
    return batch.validate(
        _suite(suite),
        result_format={
            "result_format": "SUMMARY",
            "partial_unexpected_count": _FAILING_IDS,
            "unexpected_index_column_names": [suite.id_column],
        },
    )


def _suite(suite: Suite) -> Any:
    import great_expectations as gx
    from great_expectations import expectations as library

    return gx.ExpectationSuite(
        name=suite.name,
        expectations=[
            getattr(library, expectation.kind)(
                column=expectation.column,
                severity=expectation.severity,
                notes=expectation.meaning,
                meta={"place": place},
                **expectation.arguments,
            )
            for place, expectation in enumerate(suite.expectations)
        ],
    )


def _page(validation: Any) -> str:
    from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
    from great_expectations.render.view.view import DefaultJinjaPageView

    view: Any = DefaultJinjaPageView()
    return str(view.render(ValidationResultsPageRenderer().render(validation)))


def _result(expectation: Expectation, result: Any, id_column: str) -> ExpectationResult:
    indices = result.result.get("partial_unexpected_index_list") or ()
    return ExpectationResult(
        expectation=expectation,
        success=bool(result.success),
        unexpected=int(result.result.get("unexpected_count") or 0),
        failing_ids=tuple(str(index[id_column]) for index in indices),
        error=_error(result.exception_info),
    )


def _error(information: Any) -> str | None:
    """The first exception message; one entry, or one for each metric that failed."""
    entries = [information, *(value for value in information.values() if isinstance(value, dict))]
    messages = [entry["exception_message"] for entry in entries if entry.get("raised_exception")]
    return str(messages[0]) if messages else None
