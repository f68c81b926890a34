"""Corpus: duplicates out, validated, released."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from pydantic import Field

from assets.reporting import column_schema, materialized, preview_table
from assets.verification import verified_pairs
from cass_pipeline.corpus.expectations import SuiteReport, validate
from cass_pipeline.corpus.hub import HubRelease, HubTarget, LocalRelease
from cass_pipeline.corpus.projection import project_kernels, project_pairs
from cass_pipeline.corpus.release import read_release, verify_release
from cass_pipeline.corpus.sketches import Similarity
from cass_pipeline.corpus.suites import Bounds, Suite, kernel_suite, pair_suite
from cass_pipeline.records import CORPUS, DISTINCT_PAIRS, PUBLISHED_PAIRS
from cass_pipeline.sources.select import PERMISSIVE
from cass_pipeline.sources.spdx import is_permitted
from cass_pipeline.stages import corpus as corpus_stage
from cass_pipeline.stages import distinct_pairs as distinct_stage
from cass_pipeline.stages import hub_dataset as hub_stage
from cass_pipeline.stages.opt_outs import refuse_opted_out
from resources import (
    EngineResource,
    HubResource,
    OptOutsResource,
    StoreResource,
    ToolchainsResource,
)

PREVIEW = ["pair_id", "domain", "source_name", "source_path", "licence"]


class SimilarityConfig(dg.Config):
    """When two pairs are near-duplicates."""

    threshold: float = Field(
        default=Similarity.threshold, gt=0, le=1, description="Jaccard index of token n-grams."
    )
    shingle_tokens: int = Field(default=Similarity.shingle_tokens, ge=1, description="n.")


@dg.asset(deps=[verified_pairs], group_name="corpus", kinds={"duckdb", "parquet"})
def distinct_pairs(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    engine: EngineResource,
    config: SimilarityConfig,
) -> dg.MaterializeResult[None]:
    """Which pairs are the same or nearly the same code, and which of them stands for the others.

    Candidates come from MinHash; each is verified by its exact Jaccard index. The cluster is kept
    with every pair, so that training splits never part near-duplicates.
    """
    similarity = Similarity(config.threshold, config.shingle_tokens)
    with store.writing(context.log.info) as tables:
        report = distinct_stage.update(tables, similarity, engine.engine, context.log.info)
    table = store.store.table("distinct_pairs", DISTINCT_PAIRS)
    return materialized(report, table, ["pair_id", "cluster_id"])


@dg.asset(deps=[distinct_pairs], group_name="corpus", kinds={"duckdb", "parquet"})
def corpus(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    engine: EngineResource,
    opt_outs: OptOutsResource,
) -> dg.MaterializeResult[None]:
    """The pairs and kernels to publish, sorted by id; validated before anything is released."""
    with store.writing(context.log.info) as tables:
        report = corpus_stage.update(tables, engine.engine, context.log.info, opt_outs.read())
    table = store.store.table("corpus", CORPUS)
    kernels = pl.scan_parquet(corpus_stage.kernel_files(store.store)).select(pl.len())
    return materialized(
        report,
        table,
        ["pair_id", "cluster_id"],
        kernels=int(kernels.collect().item()),
        files=dg.MetadataValue.path(str(corpus_stage.corpus_folder(store.store))),
        **{"dagster/column_schema": column_schema(PUBLISHED_PAIRS)},
    )


@dg.asset_check(asset=corpus, blocking=True)
def pairs_are_valid(store: StoreResource, toolchains: ToolchainsResource) -> dg.AssetCheckResult:
    """What must hold for every published pair; nothing is released otherwise."""
    files = corpus_stage.pair_files(store.store)
    return _validated(project_pairs(files, _build_paths(store)), pair_suite, store, toolchains)


@dg.asset_check(asset=corpus, blocking=True)
def kernels_are_valid(store: StoreResource, toolchains: ToolchainsResource) -> dg.AssetCheckResult:
    """What must hold for every published kernel; nothing is released otherwise."""
    files = corpus_stage.kernel_files(store.store)
    return _validated(project_kernels(files, _build_paths(store)), kernel_suite, store, toolchains)


@dg.asset(deps=[corpus], group_name="corpus", kinds={"huggingface"})
def hub_dataset(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    toolchains: ToolchainsResource,
    engine: EngineResource,
    hub: HubResource,
    opt_outs: OptOutsResource,
) -> dg.MaterializeResult[None]:
    """The dated release: data, card, licences, changelog; uploaded where a repository is set.

    Without a repository and a token it stays a local folder, which `load_dataset` reads as well.
    A corpus without news since the last release gives no new one.
    """
    target = HubTarget(hub.target or "", hub.token or "", hub.endpoint, hub.private)
    bounds = _bounds(toolchains, PERMISSIVE)
    suites = [pair_suite(bounds), kernel_suite(bounds)]
    today = datetime.now(UTC).date()
    with store.writing(context.log.info) as tables:
        refuse_opted_out(tables, opt_outs.read())
        result = hub_stage.update(tables, target, suites, engine.engine, today, context.log.info)
    news = "new" if result.new else "no news since, so no new release"
    where = result.url if isinstance(result, HubRelease) else result.reason
    context.log.info(f"release {result.tag} in {result.release.folder}: {news}; {where}")
    pairs = pl.scan_parquet(corpus_stage.pair_files(store.store)).select(PREVIEW).head(3).collect()
    preview = dg.MetadataValue.md(preview_table(pairs.iter_rows(named=True), PREVIEW))
    return dg.MaterializeResult(metadata={**_release_metadata(result), "preview": preview})


@dg.asset_check(asset=hub_dataset, blocking=True)
def release_matches_its_manifest(store: StoreResource) -> dg.AssetCheckResult:
    """Every file of the release has the hash that the manifest states."""
    release = read_release(hub_stage.release_folder(store.store))
    verify_release(release)
    return dg.AssetCheckResult(passed=True, metadata={"files": len(release.files)})


def _release_metadata(result: LocalRelease | HubRelease) -> dict[str, Any]:
    release = result.release
    where: dict[str, Any] = (
        {"url": dg.MetadataValue.url(result.url), "commit": result.commit}
        if isinstance(result, HubRelease)
        else {"not_uploaded": result.reason}
    )
    return {
        "dagster/row_count": release.rows["pairs"],
        "dagster/uri": str(release.folder),
        "dagster/column_schema": column_schema(PUBLISHED_PAIRS),
        "version": release.version,
        "tag": result.tag,
        "new_release": result.new,
        "rows": release.rows,
        "changelog": dg.MetadataValue.md((release.folder / "CHANGELOG.md").read_text()),
        "card": dg.MetadataValue.md((release.folder / "README.md").read_text()),
        **where,
    }


def _bounds(toolchains: ToolchainsResource, licences: Iterable[str]) -> Bounds:
    return Bounds(tuple(licences), tuple(toolchains.sm_arches), tuple(toolchains.gfx_arches))


def _build_paths(store: StoreResource) -> list[str]:
    """Paths of this machine that nothing generated may name."""
    import tempfile

    return [f"{store.folder}/", f"{tempfile.gettempdir()}/", f"{Path.home()}/"]


def _validated(
    projection: pl.DataFrame,
    suite_of: Callable[[Bounds], Suite],
    store: StoreResource,
    toolchains: ToolchainsResource,
) -> dg.AssetCheckResult:
    # An expression such as `MIT OR GPL-2.0-only` is permitted too; the suite needs it spelt out.
    present = [text for text in projection["licence"].unique().to_list() if text]
    permitted = sorted({*PERMISSIVE, *(text for text in present if is_permitted(text, PERMISSIVE))})
    suite = suite_of(_bounds(toolchains, permitted))
    report = validate(projection, suite, store.folder / "reports" / f"{suite.name}.html")
    return dg.AssetCheckResult(
        passed=report.success,
        severity=dg.AssetCheckSeverity.ERROR,
        description=_description(report),
        metadata={
            "rows": report.rows,
            "report": dg.MetadataValue.path(str(report.report)),
            "expectations": dg.MetadataValue.md(_expectations(report)),
        },
    )


def _description(report: SuiteReport) -> str:
    failed = [*report.failed("critical"), *report.failed("warning")]
    if not failed:
        return f"All {len(report.results)} expectations hold for {report.rows} rows."
    return "Not fulfilled: " + " ".join(
        f"{result.expectation.meaning} ({result.expectation.severity}, {result.unexpected} rows)"
        for result in failed
    )


def _expectations(report: SuiteReport) -> str:
    """A Markdown table of the suite's expectations and their results."""
    lines = ["| expectation | severity | holds | rows against it |", "| --- | --- | --- | --- |"]
    for result in report.results:
        against = result.error or ", ".join(result.failing_ids[:3]) or result.unexpected
        expectation = result.expectation
        holds = "yes" if result.success else "no"
        lines.append(f"| {expectation.meaning} | {expectation.severity} | {holds} | {against} |")
    return "\n".join(lines)
