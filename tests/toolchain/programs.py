"""Small real programs, one a header family, and settings to compile them with."""

from __future__ import annotations

from cass_pipeline.toolchain.interface import CompileLimits, CompileSettings
from cass_pipeline.units import SourceTree

# The machine may be busy: only the tests of a limit set a tight one.
PATIENT = CompileLimits(cpu_seconds=300, wall_seconds=1800)
CUDA = CompileSettings(arches=("sm_80",), limits=PATIENT)
HIP = CompileSettings(arches=("gfx1100",), limits=PATIENT)


def unit(text: str, main_path: str = "main.src", **more: str) -> SourceTree:
    """A tree of one file, or of some; `more` maps names without dots to texts of headers."""
    headers = {f"{name}.h": header for name, header in more.items()}
    return SourceTree({main_path: text, **headers}, main_path)


SAXPY_CUDA = """
#include <cstdio>
__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
int main() {
  saxpy<<<1, 64>>>(2.f, nullptr, nullptr, 0);
  std::printf("%d\\n", static_cast<int>(cudaDeviceSynchronize()));
}
"""

SAXPY_HIP = "#include <hip/hip_runtime.h>" + SAXPY_CUDA.replace("cuda", "hip")

CUDA_FAMILIES = {
    "half": """
        #include <cuda_bf16.h>
        #include <cuda_fp16.h>
        __global__ void k(__half *a, __half2 *b, __nv_bfloat16 *c) {
          int i = threadIdx.x;
          a[i] = __hadd(a[i], __float2half(2.f));
          b[i] = __hfma2(b[i], b[i], __float2half2_rn(1.f));
          c[i] = __float2bfloat16(__bfloat162float(c[i]) + 1.f);
        }
    """,
    "cooperative_groups": """
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __global__ void k(int *out) {
          cg::thread_block block = cg::this_thread_block();
          auto tile = cg::tiled_partition<32>(block);
          int sum = threadIdx.x + tile.size() + tile.num_threads();
          for (unsigned d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
          block.sync();
          if (tile.thread_rank() == 0) atomicAdd(out, sum);
        }
    """,
    "curand": """
        #include <curand.h>
        #include <curand_kernel.h>
        __global__ void k(float *out) {
          curandState state;
          curand_init(1234, threadIdx.x, 0, &state);
          out[threadIdx.x] = curand_uniform(&state);
        }
        void host(curandGenerator_t *g) { curandCreateGenerator(g, CURAND_RNG_PSEUDO_DEFAULT); }
    """,
    "cub": """
        #include <cub/block/block_reduce.cuh>
        __global__ void k(int *out) {
          using Reduce = cub::BlockReduce<int, 128>;
          __shared__ typename Reduce::TempStorage storage;
          int sum = Reduce(storage).Sum(threadIdx.x);
          if (threadIdx.x == 0) *out = sum;
        }
    """,
    "thrust": """
        #include <thrust/fill.h>
        #include <thrust/device_ptr.h>
        void host(int *p) { thrust::device_ptr<int> d(p); thrust::fill(d, d + 8, 3); }
    """,
    "libraries": """
        #include <cublas_v2.h>
        #include <cublasLt.h>
        #include <cuda_profiler_api.h>
        #include <cufft.h>
        #include <cusolverDn.h>
        #include <cusparse.h>
        #include <nvrtc.h>
        #include <nvtx3/nvToolsExt.h>
        __global__ void k(float *out) { *out = 1; }
        void host(cublasHandle_t *h, cufftHandle *p) {
          cublasCreate(h);
          cufftPlan1d(p, 16, CUFFT_C2C, 1);
          nvtxRangePushA("range");
          cudaProfilerStart();
        }
    """,
}

_HIP = "#include <hip/hip_runtime.h>\n"

HIP_FAMILIES = {
    "runtime": _HIP
    + """
        #include <hip/hip_complex.h>
        __constant__ float table[4];
        __global__ void k(unsigned *o, const float *p) {
          extern __shared__ float dynamic[];
          dynamic[threadIdx.x] = __ldg(p) + table[threadIdx.x & 3];
          __syncthreads();
          o[0] = atomicInc(o + 1, 7u) + atomicDec(o + 2, 9u) + __shfl_down(3, 1) + __popc(7u);
          o[1] = __ballot(1) + __any(1) + __clz(4) + atomicCAS(o, 1u, 2u) + clock64();
          atomicAdd(reinterpret_cast<double *>(o + 4), 1.0);
          hipFloatComplex c = make_hipFloatComplex(1, dynamic[0]);
          p[0] > 1 ? __threadfence() : __threadfence_block();
          o[9] = hipCmulf(c, c).x;
        }
    """,
    "half": _HIP
    + """
        #include <hip/hip_bf16.h>
        #include <hip/hip_fp16.h>
        __global__ void k(__half *a, __half2 *b, __hip_bfloat16 *c) {
          int i = threadIdx.x;
          a[i] = __hadd(a[i], __float2half(2.f));
          b[i] = __hfma2(b[i], b[i], __float2half2_rn(1.f));
          c[i] = __float2bfloat16(__bfloat162float(c[i]) + 1.f);
        }
    """,
    "cooperative_groups": _HIP
    + """
        #include <hip/hip_cooperative_groups.h>
        #include <cooperative_groups/memcpy_async.h>
        #include <cooperative_groups/reduce.h>
        #include <cooperative_groups/scan.h>
        namespace cg = cooperative_groups;
        template <int n> __device__ int tile_of(cg::thread_block_tile<n> tile, int v) {
          return cg::reduce(tile, v, cg::plus<int>()) + cg::inclusive_scan(tile, v) +
                 cg::exclusive_scan(tile, v, cg::plus<int>());
        }
        __device__ int any_group(cg::thread_group g) {
          g.sync();
          return g.size() + g.thread_rank();
        }
        __global__ void k(int *out, const int *in) {
          __shared__ int copy[64];
          cg::thread_block block = cg::this_thread_block();
          cg::memcpy_async(block, copy, in, sizeof(copy));
          cg::wait(block);
          auto tile = cg::tiled_partition<32>(block);
          auto part = cg::tiled_partition<8>(tile);
          int v = copy[threadIdx.x & 63] + tile.size() + tile.num_threads() + block.num_threads();
          for (unsigned d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
          v += tile.shfl_xor(v, 1) + tile.shfl_up(v, 1) + tile.shfl(v, 0) + tile.ballot(v > 3);
          v += tile.any(v) + tile.all(v) + tile.match_any(v) + part.meta_group_rank();
          v += tile_of<8>(part, v) + any_group(block) + any_group(cg::tiled_partition(block, 4));
          v += block.group_index().x + block.thread_index().x + block.dim_threads().x;
          cg::coalesced_group active = cg::coalesced_threads();
          v += active.shfl(v, 0) + cg::reduce(active, v, cg::greater<int>()) + active.size();
          v += cg::binary_partition(tile, v & 1).size() + cg::labeled_partition(tile, v).size();
          cg::grid_group grid = cg::this_grid();
          if (grid.is_valid()) grid.sync();
          v += grid.thread_rank() + grid.num_blocks() + grid.block_rank() + grid.size();
          double wide = tile.shfl(1.0 * v, 3);
          cg::sync(tile);
          out[threadIdx.x] = v + static_cast<int>(wide);
        }
    """,
    "hiprand": _HIP
    + """
        #include <hiprand/hiprand.h>
        #include <hiprand/hiprand_kernel.h>
        __global__ void k(float *out) {
          hiprandState state;
          hiprand_init(1234, threadIdx.x, 0, &state);
          out[threadIdx.x] = hiprand_uniform(&state) + hiprand_normal(&state);
        }
        void host(hiprandGenerator_t *g) { hiprandCreateGenerator(g, HIPRAND_RNG_PSEUDO_DEFAULT); }
    """,
    "hipcub": _HIP
    + """
        #include <hipcub/hipcub.hpp>
        __global__ void k(int *out) {
          using Reduce = hipcub::BlockReduce<int, 128>;
          __shared__ typename Reduce::TempStorage storage;
          int sum = Reduce(storage).Sum(threadIdx.x);
          if (threadIdx.x == 0) *out = sum;
        }
    """,
    "thrust": _HIP
    + """
        #include <thrust/device_ptr.h>
        #include <thrust/fill.h>
        void host(int *p) { thrust::device_ptr<int> d(p); thrust::fill(d, d + 8, 3); }
    """,
    "libraries": _HIP
    + """
        #include <hipblas/hipblas.h>
        #include <hipfft/hipfft.h>
        #include <hipsolver/hipsolver.h>
        #include <hipsparse/hipsparse.h>
        __global__ void k(float *out) { *out = 1; }
        void host(hipblasHandle_t *h, hipfftHandle *p) {
          hipblasCreate(h);
          hipfftPlan1d(p, 16, HIPFFT_C2C, 1);
        }
    """,
}
