"""Translation: CUDA to HIP."""

import dagster as dg

from assets.collection import raw_kernels
from assets.reporting import materialized
from cass_pipeline.records import HIP_KERNELS
from cass_pipeline.stages import hip_kernels as stage
from cass_pipeline.translate.cuda_to_hip import CudaToHip
from resources import FanoutResource, StoreResource


@dg.asset(deps=[raw_kernels], group_name="translation", kinds={"parquet"})
def hip_kernels(
    context: dg.AssetExecutionContext, store: StoreResource, fanout: FanoutResource
) -> dg.MaterializeResult[None]:
    """Every unit translated to HIP, with the findings of the translator.

    A unit that could not be translated as a whole is kept too, because the AMD compiler is the
    judge; its findings say by line what is left.
    """
    with store.writing(context.log.info) as tables:
        report = stage.update(tables, CudaToHip(), fanout.fanout, context.log.info)
    table = store.store.table("hip_kernels", HIP_KERNELS)
    return materialized(report, table, ["unit_id", "hip_main_path", "findings"])
