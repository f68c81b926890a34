"""Collection: where CUDA comes from, and what of it is taken."""

from pathlib import Path

import dagster as dg
from pydantic import Field

from assets.reporting import materialized
from cass_pipeline.records import COLLECTED
from cass_pipeline.sources.config import read_sources
from cass_pipeline.sources.pip_settings import pip_index_settings
from cass_pipeline.sources.select import PERMISSIVE, Selection
from cass_pipeline.stages import collection
from cass_pipeline.stages import raw_kernels as selection_stage
from cass_pipeline.stages import stack_kernels as stack_stage
from resources import (
    EngineResource,
    FanoutResource,
    HubResource,
    OptOutsResource,
    StoreResource,
    ToolchainsResource,
)

PREVIEW = ("source_name", "source_path", "licence", "kernel_count", "code_lines")


class LocalConfig(dg.Config):
    """The folder to collect."""

    folder: str = Field(default="examples/cuda", description="Folder with .cu files, at any depth.")
    licence: str | None = Field(
        default=None, description="SPDX expression for all files; null reads their licence files."
    )


class SourcesFile(dg.Config):
    """The list of repositories and packages."""

    path: str = Field(
        default="config/sources.yaml", description="YAML file with `repositories` and `packages`."
    )


class SelectionConfig(dg.Config):
    """Thresholds; changing one collects nothing anew."""

    min_code_lines: int = Field(default=Selection.min_code_lines, ge=0, description="In the .cu.")
    max_code_lines: int = Field(default=Selection.max_code_lines, ge=1, description="In the .cu.")
    min_kernels: int = Field(default=Selection.min_kernels, ge=0, description="In the unit.")
    drop_generated: bool = Field(default=True, description="Leave out generated files.")
    permitted_licences: list[str] = Field(default=[*PERMISSIVE], description="SPDX identifiers.")
    allow_unknown_licence: bool = Field(
        default=False, description="Take files without a licence; such a corpus is not publishable."
    )


@dg.asset(group_name="collection", kinds={"parquet"})
def local_kernels(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    opt_outs: OptOutsResource,
    config: LocalConfig,
) -> dg.MaterializeResult[None]:
    """Every `.cu` file of a local folder, with the local headers it includes.

    A unit stands alone: file, headers and include paths. What cannot become one has its reason.
    """
    with store.writing(context.log.info) as tables:
        report = collection.update_local(
            tables, Path(config.folder), config.licence, context.log.info, opt_outs.read()
        )
    return materialized(report, store.store.table("local_kernels", COLLECTED), PREVIEW)


@dg.asset(group_name="collection", kinds={"git", "parquet"})
def repository_kernels(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    toolchains: ToolchainsResource,
    fanout: FanoutResource,
    opt_outs: OptOutsResource,
    config: SourcesFile,
) -> dg.MaterializeResult[None]:
    """Every `.cu` file of the listed git repositories, each at one commit.

    Read from git's objects, without a checkout: nothing of a repository is ever executed.
    """
    with store.writing(context.log.info) as tables:
        report = collection.update_repositories(
            tables,
            read_sources(Path(config.path)).repositories,
            toolchains.cache_folder / "repositories",
            fanout.fanout,
            context.log.info,
            opt_outs.read(),
        )
    return materialized(report, store.store.table("repository_kernels", COLLECTED), PREVIEW)


@dg.asset(group_name="collection", kinds={"python", "parquet"})
def sdist_kernels(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    toolchains: ToolchainsResource,
    fanout: FanoutResource,
    opt_outs: OptOutsResource,
    config: SourcesFile,
) -> dg.MaterializeResult[None]:
    """Every `.cu` file of the listed packages' source distributions.

    Found through pip's own index, only unpacked, never built: no code of a package runs.
    """
    with store.writing(context.log.info) as tables:
        report = collection.update_sdists(
            tables,
            read_sources(Path(config.path)).packages,
            toolchains.cache_folder / "sdists",
            pip_index_settings(),
            fanout.fanout,
            context.log.info,
            opt_outs.read(),
        )
    return materialized(report, store.store.table("sdist_kernels", COLLECTED), PREVIEW)


@dg.asset(group_name="collection", kinds={"s3", "parquet"})
def stack_kernels(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    engine: EngineResource,
    toolchains: ToolchainsResource,
    hub: HubResource,
    opt_outs: OptOutsResource,
    config: SourcesFile,
) -> dg.MaterializeResult[None]:
    """CUDA files that The Stack v2 lists, rebuilt by repository; off unless a dataset is named.

    Only what the dataset calls permissive is fetched, and each file once.
    """
    with store.writing(context.log.info) as tables:
        report = stack_stage.update(
            tables,
            read_sources(Path(config.path)).stack,
            toolchains.cache_folder / "stack",
            engine.engine,
            context.log.info,
            opt_outs.read(),
            token=hub.token,
        )
    return materialized(report, store.store.table("stack_kernels", COLLECTED), PREVIEW)


@dg.asset(
    deps=[local_kernels, repository_kernels, sdist_kernels, stack_kernels],
    group_name="collection",
    kinds={"parquet"},
)
def raw_kernels(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    opt_outs: OptOutsResource,
    config: SelectionConfig,
) -> dg.MaterializeResult[None]:
    """The units that go on: with a kernel, of sound size, under a permitted licence, each once.

    Thresholds are applied here and nowhere else, so that a changed one is cheap.
    """
    settings = config.model_dump() | {"permitted_licences": tuple(config.permitted_licences)}
    with store.writing(context.log.info) as tables:
        report = selection_stage.update(
            tables, Selection(**settings), context.log.info, opt_outs.read()
        )
    return materialized(report, store.store.table("raw_kernels", COLLECTED), PREVIEW)
