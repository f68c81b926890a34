"""API names, namespaces and pasted prefixes."""

from __future__ import annotations

import pytest

from cass_pipeline.translate import name_table
from cass_pipeline.translate.compat import compat_names
from cass_pipeline.translate.identifiers import hip_identifiers
from cass_pipeline.translate.interface import Severity
from cass_pipeline.translate.names import hip_name
from tests.translate.helpers import findings_of, translate_text

NAMES = {
    "cudaMalloc": "hipMalloc",
    "cudaError_t": "hipError_t",
    "cudaError": "hipError_t",
    "cudaDeviceProp": "hipDeviceProp_t",
    "cudaMallocHost": "hipHostMalloc",
    "cudaErrorMemoryAllocation": "hipErrorOutOfMemory",
    "cudaHostAllocMapped": "hipHostMallocMapped",
    "cudaDevAttrWarpSize": "hipDeviceAttributeWarpSize",
    "cudaStreamGetCaptureInfo_v2": "hipStreamGetCaptureInfo_v2",
    "cuModuleLoad": "hipModuleLoad",
    "cuMemAlloc_v2": "hipMalloc",
    "cuMemcpyDtoH_v2": "hipMemcpyDtoH",
    "cuLaunchKernel": "hipModuleLaunchKernel",
    "CUfunction": "hipFunction_t",
    "CUDA_ERROR_INVALID_VALUE": "hipErrorInvalidValue",
    "CU_DEVICE_ATTRIBUTE_WARP_SIZE": "hipDeviceAttributeWarpSize",
    "cublasSgemm": "hipblasSgemm",
    "cublasSgemm_v2": "hipblasSgemm",
    "CUBLAS_OP_N": "HIPBLAS_OP_N",
    "CUBLAS_COMPUTE_32F": "HIPBLAS_R_32F",
    "CUDA_R_16F": "HIPBLAS_R_16F",
    "curand_uniform": "hiprand_uniform",
    "curandStatePhilox4_32_10_t": "hiprandStatePhilox4_32_10_t",
    "cufftExecC2C": "hipfftExecC2C",
    "cusparseCreate": "hipsparseCreate",
    "cuCmulf": "hipCmulf",
    "make_cudaExtent": "make_hipExtent",
    "make_cuComplex": "make_hipComplex",
    "CUDART_PI_F": "HIP_PI_F",
    "__nv_bfloat16": "__hip_bfloat16",
    "__CUDA_ARCH__": "CASS_CUDA_ARCH",
    "CUDART_VERSION": "CASS_CUDA_VERSION",
    "CUdevice_attribute": "hipDeviceAttribute_t",
    "cudaDevAttrMultiProcessorCount": "hipDeviceAttributeMultiprocessorCount",
    "cudaEventWaitDefault": "hipEventWaitDefault",
    "cudaLaunchKernelExC": None,
    "cudaGridDependencySynchronize": None,
    "cuda": None,
    "cudaish": None,
    "CUDA_CHECK": None,
    "my_cudaMalloc": None,
}


@pytest.mark.parametrize(("cuda", "hip"), NAMES.items())
def test_hip_name(cuda: str, hip: str | None) -> None:
    assert hip_name(cuda) == hip


def test_every_exception_names_something_declared() -> None:
    declared = hip_identifiers() | compat_names() | name_table.COMPILER_MACROS
    assert set(name_table.EXCEPTIONS.values()) <= declared


def test_hip_names_are_no_cuda_names() -> None:
    """Else a second translation would change the first one's output."""
    changed = {name for name in hip_identifiers() if hip_name(name) not in (None, name)}
    assert {name for name in changed if "hip" in name.lower()} == set()


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cudaFree(p); // cudaFree", "hipFree(p); // cudaFree"),
        ('puts("cudaFree"); cudaFree(p);', 'puts("cudaFree"); hipFree(p);'),
        ('puts(R"(cudaFree)"); cudaFree(p);', 'puts(R"(cudaFree)"); hipFree(p);'),
        ("#define F(x) \\\n  cudaFree(x)\n", "#define F(x) \\\n  hipFree(x)\n"),
        ("#define API(n) cuda##n\n", "#define API(n) hip##n\n"),
        ("#ifdef __CUDACC__\n#endif\n", "#ifdef __HIPCC__\n#endif\n"),
        ("k<<<1, 2, 0, s>>>(p);", "k<<<1, 2, 0, s>>>(p);"),
        ("int cuda = 1; f(cuda);", "int cuda = 1; f(cuda);"),
        ("cub::BlockReduce<int, 4> r;", "hipcub::BlockReduce<int, 4> r;"),
        ("namespace c = cub;", "namespace c = hipcub;"),
        ("using namespace cub;", "using namespace hipcub;"),
        ("p.sharedMemPerBlockOptin + p.major", "p.sharedMemPerBlock + p.major"),
        ("p->sharedMemPerBlockOptin", "p->sharedMemPerBlock"),
        ("int cub = 3;", "int cub = 3;"),
        ("thrust::sort(thrust::cuda::par, a, b);", "thrust::sort(thrust::hip::par, a, b);"),
        ("cuda::std::min(a, b)", "std::min(a, b)"),
        ("cudaFree(p);\r\ncudaFree(q);\r\n", "hipFree(p);\r\nhipFree(q);\r\n"),
    ],
)
def test_renaming(cuda: str, hip: str) -> None:
    assert translate_text(cuda) == hip


@pytest.mark.parametrize(
    "text",
    [
        "\n\ncudaNoSuchThing(p);",
        "\n\ncublasNoSuchThing(p);",
        "\n\ncub::NoSuchThing x;",
        "\n\ncuda::atomic_ref<int> x(y);",
        "\n\nauto x = __cvta_generic_to_shared(p);",
        "\n\nnvcuda::wmma::fill_fragment(c, 0.f);",
    ],
)
def test_unknown_names_are_reported_and_left(text: str) -> None:
    assert translate_text(text) == text
    errors = [f for f in findings_of(text) if f.severity is Severity.ERROR]
    assert {(f.line, f.rule) for f in errors} == {(3, "unknown-api")}


@pytest.mark.parametrize(
    "text",
    [
        "void cudaCheckIt(int); void f() { cudaCheckIt(1); }",
        "#define cudaCheckIt(x) x\nint y = cudaCheckIt(1);",
        "struct cudaBag {}; cudaBag b;",
        "void f(cudaBag_ptr* cudaBagPtr) { g(cudaBagPtr); }\nusing cudaBag_ptr = int;",
        "namespace cuda { int f(); } int g() { return cuda::f(); }",
    ],
)
def test_the_programs_own_names_are_left_in_peace(text: str) -> None:
    assert translate_text(text) == text
    assert not [f for f in findings_of(text) if f.severity is Severity.ERROR]


def test_a_ported_file_keeps_its_choice_of_compiler() -> None:
    text = "#if defined(__HIPCC__)\n#elif defined(__CUDACC__)\n#endif\n"
    assert translate_text(text) == text


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        (
            "__device__ float atomicMax(float* a, float b) { return b; }",
            "__device__ float cass_own_atomicMax(float* a, float b) { return b; }",
        ),
        (
            "__device__ void atomicMin(\n double *a);",
            "__device__ void cass_own_atomicMin(\n double *a);",
        ),
        ("__device__ int atomicMax(int* a, int b);",) * 2,
        ("x = atomicMax((float*)a, b);",) * 2,
        ("return atomicMax(float_of(a), b);",) * 2,
    ],
)
def test_a_function_that_hip_has_itself_is_set_aside(cuda: str, hip: str) -> None:
    assert translate_text(cuda) == hip
