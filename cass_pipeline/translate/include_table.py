"""What becomes of the headers that CUDA code includes.

Sources: the contents of the HIP header packages (which header declares what), and NVIDIA's for
what each of theirs is for.
"""

from __future__ import annotations

RUNTIME_HEADER = "hip/hip_runtime.h"

HEADERS: dict[str, str] = {
    "cuda.h": RUNTIME_HEADER,
    "cuda_runtime.h": RUNTIME_HEADER,
    "cuda_runtime_api.h": "hip/hip_runtime_api.h",
    "cuda_device_runtime_api.h": RUNTIME_HEADER,
    "cuda_bf16.h": "hip/hip_bf16.h",
    "cuda_bf16.hpp": "hip/hip_bf16.h",
    "cuda_fp16.h": "hip/hip_fp16.h",
    "cuda_fp16.hpp": "hip/hip_fp16.h",
    "cuda_gl_interop.h": "hip/hip_gl_interop.h",
    "cuda_profiler_api.h": "hip/hip_runtime_api.h",
    "cudaProfiler.h": "hip/hip_runtime_api.h",
    "cuda_texture_types.h": "hip/hip_texture_types.h",
    "channel_descriptor.h": "hip/channel_descriptor.h",
    "driver_functions.h": RUNTIME_HEADER,
    "driver_types.h": "hip/driver_types.h",
    "builtin_types.h": RUNTIME_HEADER,
    "common_functions.h": RUNTIME_HEADER,
    "device_functions.h": "hip/device_functions.h",
    "device_atomic_functions.h": RUNTIME_HEADER,
    "device_double_functions.h": RUNTIME_HEADER,
    "host_defines.h": "hip/hip_runtime.h",
    "library_types.h": "hip/library_types.h",
    "math_constants.h": "hip/hip_math_constants.h",
    "math_functions.h": "hip/math_functions.h",
    "sm_20_atomic_functions.h": RUNTIME_HEADER,
    "sm_20_intrinsics.h": RUNTIME_HEADER,
    "sm_30_intrinsics.h": RUNTIME_HEADER,
    "sm_32_atomic_functions.h": RUNTIME_HEADER,
    "sm_32_intrinsics.h": RUNTIME_HEADER,
    "sm_35_intrinsics.h": RUNTIME_HEADER,
    "sm_60_atomic_functions.h": RUNTIME_HEADER,
    "sm_61_intrinsics.h": RUNTIME_HEADER,
    "surface_functions.h": RUNTIME_HEADER,
    "surface_types.h": "hip/surface_types.h",
    "texture_fetch_functions.h": RUNTIME_HEADER,
    "texture_types.h": "hip/texture_types.h",
    "vector_functions.h": "hip/hip_vector_types.h",
    "vector_types.h": "hip/hip_vector_types.h",
    "cuComplex.h": "hip/hip_complex.h",
    "cooperative_groups.h": "hip/hip_cooperative_groups.h",
    "cublas.h": "hipblas/hipblas.h",
    "cublas_api.h": "hipblas/hipblas.h",
    "cublas_v2.h": "hipblas/hipblas.h",
    "cufft.h": "hipfft/hipfft.h",
    "cufftXt.h": "hipfft/hipfftXt.h",
    "curand.h": "hiprand/hiprand.h",
    "curand_kernel.h": "hiprand/hiprand_kernel.h",
    "curand_mtgp32_host.h": "hiprand/hiprand_mtgp32_host.h",
    "cusparse.h": "hipsparse/hipsparse.h",
    "cusparse_v2.h": "hipsparse/hipsparse.h",
    "cusolverDn.h": "hipsolver/hipsolver.h",
    "cusolver_common.h": "hipsolver/hipsolver.h",
    "cub/cub.cuh": "hipcub/hipcub.hpp",
    "nvrtc.h": "hip/hiprtc.h",
    "thrust/system/cuda/execution_policy.h": "thrust/system/hip/execution_policy.h",
    "thrust/system/cuda/memory.h": "thrust/system/hip/memory.h",
    "thrust/system/cuda/error.h": "thrust/system/hip/error.h",
    "thrust/system/cuda/vector.h": "thrust/system/hip/vector.h",
    "nccl.h": "rccl/rccl.h",
}
"""HIP header for a CUDA header."""

RULES: tuple[tuple[str, str], ...] = (
    # hipCUB's one header: not every sub-header of CUB has a twin of the same name.
    (r"cub/.*\.cuh", "hipcub/hipcub.hpp"),
    # The parts of libcu++ that are the standard library for device code.
    (r"cuda/std/(\w+)", r"\1"),
    (r"crt/.*\.h", RUNTIME_HEADER),
)
"""Pattern and HIP header, for names not in `HEADERS`."""

DROPPED: frozenset[str] = frozenset(
    {
        "device_launch_parameters.h",
        "host_config.h",
    }
)
"""Headers whose content HIP has elsewhere, or the compatibility header brings."""

KEPT: dict[str, str] = dict.fromkeys(
    (
        "cooperative_groups/reduce.h",
        "cooperative_groups/scan.h",
        "cooperative_groups/memcpy_async.h",
    ),
    "HIP has no such header; the toolchain's additions to HIP do, under this name",
)
"""Headers that keep their CUDA name, and why."""

UNSUPPORTED: dict[str, str] = {
    r"mma\.h": "tensor core matrices (nvcuda::wmma) have no HIP header here",
    r"cuda_fp8\.h.*": "8-bit floating point has no HIP header here",
    r"cuda_fp[46]\.h.*": "4- and 6-bit floating point have no HIP header",
    r"cuda_pipeline.*\.h": "asynchronous copies have no HIP counterpart",
    r"cuda_awbarrier.*\.h": "asynchronous barriers have no HIP counterpart",
    r"cudaTypedefs\.h": "entry point types of the CUDA driver have no HIP counterpart",
    r"cublasLt\.h": "cuBLASLt's HIP header is not installed",
    r"cublasXt\.h": "cuBLASXt has no HIP counterpart",
    r"cudnn.*\.h": "cuDNN has no HIP header here",
    r"cutlass/.*": "CUTLASS has no HIP counterpart",
    r"cute/.*": "CUTLASS has no HIP counterpart",
    r"nvToolsExt.*\.h|nvtx3/.*": "NVTX ranges have no HIP header here",
    r"nvml\.h|cupti.*\.h|npp.*\.h|nvjpeg\.h": "an NVIDIA library without a HIP counterpart",
    r"cuda/(?!std/).*": "this part of libcu++ has no HIP counterpart",
    r"nv/target": "NV_IF_TARGET has no HIP counterpart",
    r"helper_\w+\.h": "a header of NVIDIA's samples, which is not part of the tree",
}
"""Pattern of a header that stays as it is, and why."""
