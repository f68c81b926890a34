// SPDX-License-Identifier: MIT
//
// Stable least-significant-digit radix sort of key-value pairs, four bits a pass.
// Ranks inside a warp come from __ballot_sync and __popc, ranks across warps and
// blocks from counters. The warp size is taken to be 32.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        const cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                       \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));   \
            std::exit(EXIT_FAILURE);                                                       \
        }                                                                                  \
    } while (0)

constexpr int RADIX_BITS = 4;
constexpr int RADIX = 1 << RADIX_BITS;
constexpr int WARP = 32;
constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / WARP;
constexpr unsigned FULL_MASK = 0xffffffffu;

__device__ __forceinline__ unsigned digit_of(uint32_t key, int shift) {
    return (key >> shift) & (RADIX - 1);
}

// counts[digit * blocks + block]: digit-major, so that one scan gives global offsets.
__global__ void count_digits(const uint32_t *keys, unsigned *counts, int n, int shift) {
    __shared__ unsigned s_counts[RADIX];
    if (threadIdx.x < RADIX) s_counts[threadIdx.x] = 0;
    __syncthreads();

    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(&s_counts[digit_of(keys[i], shift)], 1u);
    __syncthreads();

    if (threadIdx.x < RADIX) {
        counts[threadIdx.x * gridDim.x + blockIdx.x] = s_counts[threadIdx.x];
    }
}

// Exclusive scan of the counts by a single block (Hillis-Steele, chunk by chunk).
__global__ void scan_counts(unsigned *counts, int n) {
    __shared__ unsigned s_data[BLOCK];
    unsigned carry = 0;
    for (int base = 0; base < n; base += BLOCK) {
        const int i = base + threadIdx.x;
        const unsigned own = i < n ? counts[i] : 0u;
        s_data[threadIdx.x] = own;
        __syncthreads();
        for (int offset = 1; offset < BLOCK; offset *= 2) {
            const unsigned left = threadIdx.x >= offset ? s_data[threadIdx.x - offset] : 0u;
            __syncthreads();
            s_data[threadIdx.x] += left;
            __syncthreads();
        }
        if (i < n) counts[i] = carry + s_data[threadIdx.x] - own;
        carry += s_data[BLOCK - 1];
        __syncthreads();
    }
}

__global__ void scatter(const uint32_t *keys_in, const int *values_in, uint32_t *keys_out,
                        int *values_out, const unsigned *offsets, int n, int shift) {
    __shared__ unsigned s_warp_counts[WARPS][RADIX];
    const int lane = threadIdx.x % WARP;
    const int warp = threadIdx.x / WARP;
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const bool valid = i < n;
    const uint32_t key = valid ? keys_in[i] : 0u;
    const unsigned digit = digit_of(key, shift);

    // Lanes that hold the same digit as this one.
    unsigned peers = __ballot_sync(FULL_MASK, valid);
    for (int bit = 0; bit < RADIX_BITS; ++bit) {
        const bool set = (digit >> bit) & 1u;
        const unsigned votes = __ballot_sync(FULL_MASK, set);
        peers &= set ? votes : ~votes;
    }
    const unsigned lower_lanes = (1u << lane) - 1u;
    const unsigned rank = __popc(peers & lower_lanes);

    if (lane < RADIX) s_warp_counts[warp][lane] = 0;
    __syncwarp();
    if (valid && rank == 0) s_warp_counts[warp][digit] = __popc(peers);
    __syncthreads();

    if (valid) {
        unsigned position = offsets[digit * gridDim.x + blockIdx.x] + rank;
        for (int w = 0; w < warp; ++w) position += s_warp_counts[w][digit];
        keys_out[position] = key;
        values_out[position] = values_in[i];
    }
}

int main() {
    const int n = 10007;
    const int blocks = (n + BLOCK - 1) / BLOCK;

    // Many equal keys in the upper half of the input, so that stability matters.
    std::vector<uint32_t> keys(n);
    std::vector<int> values(n);
    uint32_t state = 2463534242u;
    for (int i = 0; i < n; ++i) {
        state = state * 747796405u + 2891336453u;
        keys[i] = i < n / 2 ? state : state >> 27;
        values[i] = i;
    }

    uint32_t *d_keys[2];
    int *d_values[2];
    unsigned *d_counts = nullptr;
    for (int side = 0; side < 2; ++side) {
        CUDA_CHECK(cudaMalloc(&d_keys[side], n * sizeof(uint32_t)));
        CUDA_CHECK(cudaMalloc(&d_values[side], n * sizeof(int)));
    }
    CUDA_CHECK(cudaMalloc(&d_counts, RADIX * blocks * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(d_keys[0], keys.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_values[0], values.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    int src = 0;
    for (int shift = 0; shift < 32; shift += RADIX_BITS) {
        const int dst = 1 - src;
        count_digits<<<blocks, BLOCK>>>(d_keys[src], d_counts, n, shift);
        scan_counts<<<1, BLOCK>>>(d_counts, RADIX * blocks);
        scatter<<<blocks, BLOCK>>>(d_keys[src], d_values[src], d_keys[dst], d_values[dst],
                                   d_counts, n, shift);
        CUDA_CHECK(cudaGetLastError());
        src = dst;
    }

    std::vector<uint32_t> sorted_keys(n);
    std::vector<int> sorted_values(n);
    CUDA_CHECK(cudaMemcpy(sorted_keys.data(), d_keys[src], n * sizeof(uint32_t),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(sorted_values.data(), d_values[src], n * sizeof(int),
                          cudaMemcpyDeviceToHost));
    for (int side = 0; side < 2; ++side) {
        CUDA_CHECK(cudaFree(d_keys[side]));
        CUDA_CHECK(cudaFree(d_values[side]));
    }
    CUDA_CHECK(cudaFree(d_counts));

    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    for (int i = 0; i < n; ++i) {  // integers: exact
        if (sorted_keys[i] != keys[order[i]] || sorted_values[i] != order[i]) {
            std::printf("element %d is (%u, %d), expected (%u, %d)\n", i, sorted_keys[i],
                        sorted_values[i], keys[order[i]], order[i]);
            return 1;
        }
    }
    std::printf("%d pairs sorted: smallest %u, median %u, largest %u\nPASS\n", n,
                sorted_keys.front(), sorted_keys[n / 2], sorted_keys.back());
    return 0;
}
