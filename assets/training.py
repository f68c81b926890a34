"""Training: instruction records from the corpus, and a model that learns from them."""

import dagster as dg
import polars as pl
from pydantic import Field

from assets.corpus import corpus
from assets.reporting import materialized
from cass_pipeline.model.selection import shared_between_splits
from cass_pipeline.model.settings import SetSettings
from cass_pipeline.model.splits import SPLITS, Shares
from cass_pipeline.records import TRAINING_SET
from cass_pipeline.stages import training_set as set_stage
from resources import ModelResource, StoreResource


class SharesConfig(dg.Config):
    """How much of the clusters is held out."""

    validation: float = Field(default=Shares.validation, ge=0, lt=1, description="Share.")
    test: float = Field(default=Shares.test, ge=0, lt=1, description="Share.")


@dg.asset(deps=[corpus], group_name="training", kinds={"parquet"})
def training_set(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    model: ModelResource,
    config: SharesConfig,
) -> dg.MaterializeResult[None]:
    """Translation exercises in both directions: whole files, and kernels as assembly.

    The split goes by the hash of the near-duplicate cluster: a later run moves nothing, and what
    is tested was never trained on. Records longer than the model reads are filtered.
    """
    settings = SetSettings(model.settings, Shares(config.validation, config.test))
    with store.writing(context.log.info) as tables:
        report = set_stage.update(tables, settings, context.log.info)
    table = store.store.table("training_set", TRAINING_SET)
    return materialized(
        report,
        table,
        ["direction", "split", "domain", "prompt_tokens", "answer_tokens"],
        files=dg.MetadataValue.path(str(set_stage.training_folder(store.store))),
        splits=_splits_table(store),
    )


@dg.asset_check(asset=training_set, blocking=True)
def splits_share_nothing(store: StoreResource) -> dg.AssetCheckResult:
    """No cluster, unit or text stands in two splits; nothing is trained otherwise."""
    shared: dict[str, list[str]] = {}
    for name, rows in set_stage.split_values(store.store):
        shared[name] = list(shared_between_splits(rows))
    found = {name: len(values) for name, values in shared.items() if values}
    return dg.AssetCheckResult(
        passed=not found,
        severity=dg.AssetCheckSeverity.ERROR,
        description=(
            "Shared between splits: " + ", ".join(f"{n} of {name}" for name, n in found.items())
            if found
            else f"No {', '.join(shared)} is in two of the splits {', '.join(SPLITS)}."
        ),
        metadata={name: values[:5] for name, values in shared.items()},
    )


def _splits_table(store: StoreResource) -> dg.TableMetadataValue:
    """Records and tokens of each direction and split."""
    tokens = pl.col("prompt_tokens") + pl.col("answer_tokens")
    counted = (
        pl.scan_parquet(set_stage.records_file(set_stage.training_folder(store.store)))
        .group_by("direction", "split")
        .agg(records=pl.len(), tokens=tokens.sum())
        .sort("direction", "split")
        .collect()
    )
    return dg.MetadataValue.table(
        [dg.TableRecord(row) for row in counted.iter_rows(named=True)],
        dg.TableSchema(
            [
                dg.TableColumn("direction"),
                dg.TableColumn("split"),
                dg.TableColumn("records", "int"),
                dg.TableColumn("tokens", "int"),
            ]
        ),
    )
