"""Compilation: both sides, for every configured target."""

import dagster as dg

from assets.reporting import materialized
from assets.translation import hip_kernels
from cass_pipeline.records import CUDA_OBJECTS, HIP_OBJECTS
from cass_pipeline.stages import objects
from resources import FanoutResource, StoreResource, ToolchainsResource


@dg.asset(deps=[hip_kernels], group_name="compilation", kinds={"cpp", "parquet"})
def cuda_objects(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    toolchains: ToolchainsResource,
    fanout: FanoutResource,
) -> dg.MaterializeResult[None]:
    """The CUDA side of every unit: SASS listings, cubins, PTX, host assembly, kernel resources.

    All of it comes from one nvcc run, so that what is published is what belongs together.
    """
    toolchain, settings = toolchains.nvidia(), toolchains.nvidia_settings()
    with store.writing(context.log.info) as tables:
        report = objects.update_cuda(tables, toolchain, settings, fanout.fanout, context.log.info)
    table = store.store.table("cuda_objects", CUDA_OBJECTS)
    return materialized(
        report,
        table,
        ["unit_id", "cuda_kernels", "sass"],
        toolchain=toolchain.fingerprint,
        targets=", ".join(settings.arches),
    )


@dg.asset(deps=[hip_kernels], group_name="compilation", kinds={"cpp", "parquet"})
def hip_objects(
    context: dg.AssetExecutionContext,
    store: StoreResource,
    toolchains: ToolchainsResource,
    fanout: FanoutResource,
) -> dg.MaterializeResult[None]:
    """The HIP side of every unit: RDNA3 listings, code objects, host assembly, kernel resources.

    The listing is the very text that the code object was assembled from.
    """
    toolchain, settings = toolchains.amd(), toolchains.amd_settings()
    with store.writing(context.log.info) as tables:
        report = objects.update_hip(tables, toolchain, settings, fanout.fanout, context.log.info)
    table = store.store.table("hip_objects", HIP_OBJECTS)
    return materialized(
        report,
        table,
        ["unit_id", "hip_kernels", "rdna3"],
        toolchain=toolchain.fingerprint,
        targets=", ".join(settings.arches),
    )
