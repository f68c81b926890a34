"""Which HIP name stands for which CUDA name: rules first, then what no rule can say.

Only names that the index of declared HIP names holds are ever written, so a rule may propose more
than exists. Sources: the HIP headers themselves, and the CUDA runtime, driver and library
references for the meaning of each name.
"""

from __future__ import annotations

RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    # Runtime API.
    (r"cuda(Error[A-Z]\w*)", ("hip{1}",)),
    (r"cudaDevAttr(\w+)", ("hipDeviceAttribute{1}", "hipDevAttr{1}")),
    (r"cudaHostAlloc([A-Z]\w*)", ("hipHostMalloc{1}", "hipHostAlloc{1}")),
    (r"cuda([A-Z]\w*)", ("hip{1}", "hip{1}_t")),
    (r"cuda([A-Z]\w*)_v\d+", ("hip{1}",)),
    (r"CUDART_([A-Z0-9_]+)", ("HIP_{1}",)),
    # Driver API.
    (r"CUDA_ERROR_(\w+)", ("hipError{1:camel}",)),
    (r"CUDA_([RC]_\d+[A-Z]+)", ("HIPBLAS_{1}", "HIP_{1}")),
    (r"CU_DEVICE_ATTRIBUTE_(\w+)", ("hipDeviceAttribute{1:camel}",)),
    (r"CU_EVENT_(\w+)", ("hipEvent{1:camel}",)),
    (r"CU_STREAM_(\w+)", ("hipStream{1:camel}",)),
    (r"CU_CTX_(\w+)", ("hipDevice{1:camel}",)),
    (r"CU_FUNC_ATTRIBUTE_(\w+)", ("HIP_FUNC_ATTRIBUTE_{1}",)),
    (r"CU_(\w+)", ("HIP_{1}", "hip{1:camel}")),
    (r"CU([a-z]\w*?)(?:_v\d+|_st)?", ("hip{1:first}_t", "hip{1:first}")),
    (r"cu([A-Z]\w*?)(?:_v\d+)?", ("hip{1}",)),
    # Libraries.
    (r"cublas([A-Z]\w*?)(?:_v2)?", ("hipblas{1}",)),
    (r"CUBLAS_(\w+)", ("HIPBLAS_{1}",)),
    (r"curand([A-Z_]\w*)", ("hiprand{1}",)),
    (r"CURAND_(\w+)", ("HIPRAND_{1}",)),
    (r"cufft([A-Z]\w*)", ("hipfft{1}",)),
    (r"CUFFT_(\w+)", ("HIPFFT_{1}",)),
    (r"cusparse([A-Z]\w*)", ("hipsparse{1}",)),
    (r"CUSPARSE_(\w+)", ("HIPSPARSE_{1}",)),
    (r"cusolver([A-Z]\w*)", ("hipsolver{1}",)),
    (r"CUSOLVER_(\w+)", ("HIPSOLVER_{1}",)),
    (r"make_cu(?:da)?([A-Z]\w*)", ("make_hip{1}",)),
)
"""Pattern of the CUDA name, and the HIP names to try, in order.

`{1}` is the first group; `{1:camel}` turns `INVALID_VALUE` into `InvalidValue`; `{1:first}` makes
the first letter large.
"""

UNKNOWN_DEVICE = (
    r"__(?:cluster\w+|cvta_\w+|is(?:Shared|Global|Constant|Local|GridConstant|\w+Shared)"
    r"|vi(?:add|b|max|min)\w+|v(?:set|sad)\w+|u128\w+|fmaf_ieee_r[dnuz]|pipeline_\w+"
    r"|nv_(?:atomic|memcpy|associate|cvt|fp[468])\w*|fns|uni_sync|barrier_sync\w*"
    r"|threadfence_cluster|prof_trigger|f(?:add|fma|mul)2_r[dnuz]|[fd](?:div|sqrt|rcp)_r[duz]"
    r"|h\w+_(?:relu|mask|nan)|hcmadd|half2u?char_rz|bfloat162\w+|\w+2bfloat16\w*|tanhf"
    r"|(?:sin|cos|sincos)2pif)"
    r"|NV_IF_(?:ELSE_)?TARGET|nvcuda|wmma"
)
"""Device names of CUDA's headers; those that nothing here declares are reported."""

UNKNOWN_IS_ERROR = (
    r"(?:cuda[A-Z]\w*|cu(?:blas|rand|fft|sparse|solver|dnn)[A-Z_]\w*"
    r"|CU(?:BLAS|RAND|FFT|SPARSE|SOLVER|DNN|TENSOR)_\w+"
    r"|cu(?:Array|Ctx|Device|Event|Func|Graph|Init|Launch|Link|Mem|Module|Occupancy|Pointer"
    r"|Profiler|Stream|Surf|Tensor|Tex)[A-Z]\w*"
    r"|CU(?:array|context|device|deviceptr|event|function|module|result|stream|tensorMap)\w*"
    r"|CU_(?:CTX|DEVICE|EVENT|FUNC|JIT|LAUNCH|MEM|MEMORYTYPE|POINTER|STREAM|TENSOR)_\w+)"
)
"""Names that only CUDA can have meant; others that match a rule may be the program's own."""

EXCEPTIONS: dict[str, str] = {
    # Memory: HIP has one entry point for pinned host memory.
    "cudaMallocHost": "hipHostMalloc",
    "cudaHostAlloc": "hipHostMalloc",
    "cudaFreeHost": "hipHostFree",
    "cuMemAlloc": "hipMalloc",
    "cuMemAlloc_v2": "hipMalloc",
    "cuMemAllocHost": "hipHostMalloc",
    "cuMemAllocHost_v2": "hipHostMalloc",
    "cuMemAllocManaged": "hipMallocManaged",
    "cuMemAllocPitch": "hipMemAllocPitch",
    "cuMemFree": "hipFree",
    "cuMemFree_v2": "hipFree",
    "cuMemFreeHost": "hipHostFree",
    "cuMemHostAlloc": "hipHostMalloc",
    "cuMemHostGetDevicePointer": "hipHostGetDevicePointer",
    "cuMemHostRegister": "hipHostRegister",
    "cuMemHostUnregister": "hipHostUnregister",
    # Names of the first CUDA releases.
    "cudaThreadSynchronize": "hipDeviceSynchronize",
    "cudaThreadExit": "hipDeviceReset",
    "cudaThreadSetCacheConfig": "hipDeviceSetCacheConfig",
    "cudaThreadGetCacheConfig": "hipDeviceGetCacheConfig",
    "cudaThreadSetLimit": "hipDeviceSetLimit",
    "cudaThreadGetLimit": "hipDeviceGetLimit",
    "cudaDevAttrMultiProcessorCount": "hipDeviceAttributeMultiprocessorCount",
    # AMD hardware has no larger limit to opt in to.
    "cudaDevAttrMaxSharedMemoryPerBlockOptin": "hipDeviceAttributeMaxSharedMemoryPerBlock",
    # Types and enumerations with another stem.
    "cudaDeviceProp": "hipDeviceProp_t",
    "cudaFuncCache": "hipFuncCache_t",
    "cudaPointerAttributes": "hipPointerAttribute_t",
    "cudaMemoryType": "hipMemoryType",
    "cudaDataType": "hipblasDatatype_t",
    "cudaDataType_t": "hipblasDatatype_t",
    "cudaMemPool_t": "hipMemPool_t",
    "cudaComputeModeDefault": "hipComputeModeDefault",
    "cudaReadModeElementType": "hipReadModeElementType",
    "cudaGraphExecUpdateResultInfo": "hipGraphExecUpdateResult",
    # Errors.
    "cudaErrorIllegalAddress": "hipErrorIllegalAddress",
    "cudaErrorMemoryAllocation": "hipErrorOutOfMemory",
    "cudaErrorInitializationError": "hipErrorNotInitialized",
    "cudaErrorCudartUnloading": "hipErrorDeinitialized",
    "cudaErrorInvalidResourceHandle": "hipErrorInvalidHandle",
    "cudaErrorNoKernelImageForDevice": "hipErrorNoBinaryForGpu",
    "cudaErrorLaunchFailure": "hipErrorLaunchFailure",
    "CUDA_SUCCESS": "hipSuccess",
    "CUDA_ERROR_OUT_OF_MEMORY": "hipErrorOutOfMemory",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "hipErrorNoBinaryForGpu",
    # Driver API.
    "CUresult": "hipError_t",
    "CUdevice_attribute": "hipDeviceAttribute_t",
    "CUdevprop": "hipDeviceProp_t",
    "CUcontext": "hipCtx_t",
    "CUctx_st": "ihipCtx_t",
    "CUstream_st": "ihipStream_t",
    "CUstream": "hipStream_t",
    "CUevent": "hipEvent_t",
    "CUarray": "hipArray_t",
    "CUdeviceptr": "hipDeviceptr_t",
    "CUtexObject": "hipTextureObject_t",
    "CUsurfObject": "hipSurfaceObject_t",
    "cuLaunchKernel": "hipModuleLaunchKernel",
    "cuLaunchCooperativeKernel": "hipModuleLaunchCooperativeKernel",
    "cuGetErrorName": "hipDrvGetErrorName",
    "cuGetErrorString": "hipDrvGetErrorString",
    "cuCtxSynchronize": "hipCtxSynchronize",
    "cuDeviceGetCount": "hipGetDeviceCount",
    "CU_MEM_ALLOC_GRANULARITY_MINIMUM": "hipMemAllocationGranularityMinimum",
    "CU_MEM_ALLOC_GRANULARITY_RECOMMENDED": "hipMemAllocationGranularityRecommended",
    "CU_MEM_ACCESS_FLAGS_PROT_NONE": "hipMemAccessFlagsProtNone",
    "CU_MEM_ACCESS_FLAGS_PROT_READ": "hipMemAccessFlagsProtRead",
    "CU_MEM_ACCESS_FLAGS_PROT_READWRITE": "hipMemAccessFlagsProtReadWrite",
    # bfloat16.
    "__nv_bfloat16": "__hip_bfloat16",
    "nv_bfloat16": "__hip_bfloat16",
    "__nv_bfloat162": "__hip_bfloat162",
    "nv_bfloat162": "__hip_bfloat162",
    # Libraries.
    "cublasComputeType_t": "hipblasDatatype_t",
    "cublasDataType_t": "hipblasDatatype_t",
    "CUBLAS_COMPUTE_16F": "HIPBLAS_R_16F",
    "CUBLAS_COMPUTE_32F": "HIPBLAS_R_32F",
    "CUBLAS_COMPUTE_32F_FAST_16F": "HIPBLAS_R_32F",
    "CUBLAS_COMPUTE_32F_FAST_16BF": "HIPBLAS_R_32F",
    "CUBLAS_COMPUTE_32F_FAST_TF32": "HIPBLAS_R_32F",
    "CUBLAS_COMPUTE_64F": "HIPBLAS_R_64F",
    "CUBLAS_COMPUTE_32I": "HIPBLAS_R_32I",
    "CUBLAS_GEMM_DEFAULT_TENSOR_OP": "HIPBLAS_GEMM_DEFAULT",
    "CUBLAS_GEMM_DFALT": "HIPBLAS_GEMM_DEFAULT",
    "CUBLAS_GEMM_DFALT_TENSOR_OP": "HIPBLAS_GEMM_DEFAULT",
    "CUBLAS_STATUS_LICENSE_ERROR": "HIPBLAS_STATUS_UNKNOWN",
    "CUDA_R_16BF": "HIPBLAS_R_16B",
    "CUDA_C_16BF": "HIPBLAS_C_16B",
    "cufftComplex": "hipfftComplex",
    "CUFFT_FORWARD": "HIPFFT_FORWARD",
    # Half precision: CUDA's names with the company's prefix.
    "nv_half": "__half",
    "__nv_half": "__half",
    "__nv_half_raw": "__half_raw",
    "nv_half2": "__half2",
    "__nv_half2": "__half2",
    "__nv_half2_raw": "__half2_raw",
    # Macros that the compiler or a header defines.
    "__CUDA_ARCH__": "CASS_CUDA_ARCH",
    "CUDART_VERSION": "CASS_CUDA_VERSION",
    "CUDA_VERSION": "CASS_CUDA_VERSION",
    "__CUDACC__": "__HIPCC__",
    "__NVCC__": "__HIPCC__",
    "__CUDACC_RTC__": "__HIPCC_RTC__",
}
"""Names whose HIP name no rule gives."""

MEMBERS: dict[str, str] = {
    "sharedMemPerBlockOptin": "sharedMemPerBlock",
}
"""Members of CUDA's structs that HIP's structs have under another name."""

COMPILER_MACROS = frozenset({"__HIPCC__", "__HIPCC_RTC__"})
"""Targets that the compiler defines, not a header."""

PASTED_PREFIXES: dict[str, str] = {
    "cuda": "hip",
    "cublas": "hipblas",
    "curand": "hiprand",
    "cufft": "hipfft",
    "cusparse": "hipsparse",
    "CUBLAS_": "HIPBLAS_",
    "CUFFT_": "HIPFFT_",
}
"""Beginnings of names that a macro completes with `##`."""

NAMESPACES: dict[tuple[str, ...], str] = {
    ("cub",): "hipcub",
    ("thrust", "cuda"): "hip",
    ("thrust", "cuda_cub"): "hip_rocprim",
    ("thrust", "system", "cuda"): "hip",
}
"""Namespace paths and what their last part becomes."""
