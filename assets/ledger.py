"""The stage ledger: where every collected file went."""

import base64

import dagster as dg

from assets.corpus import corpus
from assets.reporting import column_schema, preview_table
from assets.training import training_set
from cass_pipeline.ledger import read_ledger
from cass_pipeline.ledger_report import (
    funnel_table,
    markdown,
    reason_table,
    source_table,
)
from cass_pipeline.records import FATES
from cass_pipeline.stages import stage_ledger as stage
from resources import StoreResource


@dg.asset(deps=[corpus, training_set], group_name="ledger", kinds={"parquet"})
def stage_ledger(
    context: dg.AssetExecutionContext, store: StoreResource
) -> dg.MaterializeResult[None]:
    """The fate of every collected file: the last stage it reached, and why it stopped there.

    The funnel shows for every stage what came in, what was kept, filtered and failed.
    """
    with store.writing(context.log.info) as tables:
        ledger = stage.update(tables, context.log.info)
    for line in (report.summary() for report in ledger.stages):
        context.log.info(line)
    table = store.store.table("stage_ledger", FATES)
    picture = base64.b64encode(stage.picture(store.store).read_bytes()).decode()
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(ledger.fates),
            "dagster/uri": str(table.folder),
            "dagster/column_schema": column_schema(FATES),
            "plot": dg.MetadataValue.md(f"![funnel](data:image/png;base64,{picture})"),
            "funnel": dg.MetadataValue.md(markdown(funnel_table(ledger))),
            "reasons": dg.MetadataValue.md(markdown(reason_table(ledger))),
            "sources": dg.MetadataValue.md(markdown(source_table(ledger))),
            "preview": dg.MetadataValue.md(
                preview_table(ledger.fates, ["source_name", "source_path", "last_stage", "outcome"])
            ),
        }
    )


@dg.asset_check(asset=stage_ledger, blocking=True)
def every_row_is_accounted_for(store: StoreResource) -> dg.AssetCheckResult:
    """Rows in = kept + filtered + failed, in every stage."""
    ledger = read_ledger(store.store)
    failed = sum(stage.outcomes.get("failed", 0) for stage in ledger.stages)
    return dg.AssetCheckResult(
        passed=not ledger.lost,
        severity=dg.AssetCheckSeverity.ERROR,
        description=(
            f"Rows are missing or surplus in: {', '.join(ledger.lost)}"
            if ledger.lost
            else f"All rows are accounted for; {failed} failed and will be tried again."
        ),
        metadata={stage.stage: stage.summary() for stage in ledger.stages},
    )
