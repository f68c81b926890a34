// SPDX-License-Identifier: MIT
//
// Stream compaction with warp-aggregated atomics: __ballot_sync finds the lanes that
// keep their element, one lane reserves room for all of them, __shfl_sync tells the
// others where. The output order is free, so it is compared as a multiset. Warp size 32.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

constexpr int WARP = 32;
constexpr unsigned FULL_MASK = 0xffffffffu;

struct IsMultipleOf {
    int divisor;
    __host__ __device__ bool operator()(int value) const { return value % divisor == 0; }
};

struct IsBetween {
    int low, high;
    __host__ __device__ bool operator()(int value) const { return value >= low && value < high; }
};

struct IsNothing {
    __host__ __device__ bool operator()(int) const { return false; }
};

template <typename Predicate>
__global__ void compact(const int *in, int n, int *out, int *out_size, Predicate keep) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % WARP;
    const int value = i < n ? in[i] : 0;
    const bool kept = i < n && keep(value);

    const unsigned kept_lanes = __ballot_sync(FULL_MASK, kept);
    if (kept_lanes == 0) return;  // the same for the whole warp

    const int leader = __ffs(static_cast<int>(kept_lanes)) - 1;
    int base = 0;
    if (lane == leader) base = atomicAdd(out_size, __popc(kept_lanes));
    base = __shfl_sync(FULL_MASK, base, leader);

    if (kept) {
        const unsigned lower_lanes = (1u << lane) - 1u;
        out[base + __popc(kept_lanes & lower_lanes)] = value;
    }
}

template <typename Predicate>
static bool check(const char *name, const int *d_in, const std::vector<int> &in, int *d_out,
                  int *d_out_size, Predicate keep) {
    const int n = static_cast<int>(in.size()), block = 192;
    int size = 0;
    CUDA_CHECK(cudaMemset(d_out_size, 0, sizeof(int)));
    compact<<<(n + block - 1) / block, block>>>(d_in, n, d_out, d_out_size, keep);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&size, d_out_size, sizeof(int), cudaMemcpyDeviceToHost));

    std::vector<int> expected;
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), keep);
    if (size != static_cast<int>(expected.size())) {
        std::printf("%s: %d elements kept, expected %zu\n", name, size, expected.size());
        return false;
    }
    std::vector<int> out(size);
    if (size > 0) {
        CUDA_CHECK(cudaMemcpy(out.data(), d_out, size * sizeof(int), cudaMemcpyDeviceToHost));
    }
    std::sort(out.begin(), out.end());
    std::sort(expected.begin(), expected.end());
    long long sum = 0;
    for (int i = 0; i < size; ++i) {  // integers: exact
        if (out[i] != expected[i]) {
            std::printf("%s: element %d after sorting is %d, expected %d\n", name, i, out[i],
                        expected[i]);
            return false;
        }
        sum += out[i];
    }
    std::printf("%s: kept %d of %d, sum %lld\n", name, size, n, sum);
    return true;
}

int main() {
    std::vector<int> in(50021);
    unsigned state = 9u;
    for (int &value : in) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<int>(state >> 12) - 500000;
    }

    int *d_in = nullptr, *d_out = nullptr, *d_out_size = nullptr;
    CUDA_CHECK(cudaMalloc(&d_in, in.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_out, in.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_out_size, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));

    const bool ok =
        check("multiples of 3", d_in, in, d_out, d_out_size, IsMultipleOf{3}) &&
        check("0 to 9999", d_in, in, d_out, d_out_size, IsBetween{0, 10000}) &&
        check("everything", d_in, in, d_out, d_out_size, IsBetween{-600000, 600000}) &&
        check("nothing", d_in, in, d_out, d_out_size, IsNothing{});

    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_out_size));
    if (!ok) return 1;
    std::printf("PASS\n");
    return 0;
}
