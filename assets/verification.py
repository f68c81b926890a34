"""Verification: what is known about each pair."""

import dagster as dg

from assets.compilation import cuda_objects, hip_objects
from assets.reporting import materialized
from cass_pipeline.records import EXECUTIONS, VERIFIED_PAIRS
from cass_pipeline.stages import executions as executions_stage
from cass_pipeline.stages import verified_pairs as pairs_stage
from resources import EngineResource, FanoutResource, StoreResource


@dg.asset(deps=[cuda_objects, hip_objects], group_name="verification", kinds={"parquet"})
def executions(
    context: dg.AssetExecutionContext, store: StoreResource
) -> dg.MaterializeResult[None]:
    """Which units have both sides, and at which level they are verified.

    No device executes both sides yet: every pair has the level `compiled`.
    """
    with store.writing(context.log.info) as tables:
        report = executions_stage.update(tables, context.log.info)
    table = store.store.table("executions", EXECUTIONS)
    return materialized(report, table, ["unit_id", "verification"])


@dg.asset(deps=[executions], group_name="verification", kinds={"duckdb", "parquet"})
def verified_pairs(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    engine: EngineResource,
    fanout: FanoutResource,
) -> dg.MaterializeResult[None]:
    """One row a pair with everything known about it: sources, assembly, resources, verification.

    The level says what was checked; nothing here is called more than it was shown to be.
    """
    with store.writing(context.log.info) as tables:
        report = pairs_stage.update(tables, engine.engine, fanout.fanout, context.log.info)
    table = store.store.table("verified_pairs", VERIFIED_PAIRS)
    return materialized(report, table, ["pair_id", "domain", "source_name", "source_path"])
