// SPDX-License-Identifier: MIT
//
// Bitonic sorting network. Steps whose partners lie within one block's 1024
// elements run in shared memory; wider steps run in global memory, one launch
// each. A length that is no power of two is padded with the largest key.
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

constexpr int THREADS = 512;
constexpr int CHUNK = 2 * THREADS;

__device__ __forceinline__ void compare_exchange(int &a, int &b, bool ascending) {
    if ((a > b) == ascending) {
        const int t = a;
        a = b;
        b = t;
    }
}

// Index of the lower element of pair number `pair` when partners are `stride` apart.
__device__ __forceinline__ unsigned lower_index(unsigned pair, unsigned stride) {
    return 2 * pair - (pair & (stride - 1));
}

// Sorts each chunk completely; the direction alternates so that neighbours are bitonic.
__global__ void sort_chunks(int *keys) {
    __shared__ int s_keys[CHUNK];
    const unsigned base = blockIdx.x * CHUNK;
    s_keys[threadIdx.x] = keys[base + threadIdx.x];
    s_keys[threadIdx.x + THREADS] = keys[base + threadIdx.x + THREADS];

    for (unsigned size = 2; size <= CHUNK; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const unsigned i = lower_index(threadIdx.x, stride);
            const bool ascending = ((base + i) & size) == 0;
            compare_exchange(s_keys[i], s_keys[i + stride], ascending);
        }
    }
    __syncthreads();
    keys[base + threadIdx.x] = s_keys[threadIdx.x];
    keys[base + threadIdx.x + THREADS] = s_keys[threadIdx.x + THREADS];
}

// One step of a merge whose partners lie further apart than a chunk.
__global__ void merge_step_global(int *keys, unsigned size, unsigned stride) {
    const unsigned i = lower_index(blockIdx.x * blockDim.x + threadIdx.x, stride);
    int a = keys[i], b = keys[i + stride];
    compare_exchange(a, b, (i & size) == 0);
    keys[i] = a;
    keys[i + stride] = b;
}

// All remaining steps of a merge, from stride CHUNK / 2 down to 1.
__global__ void merge_chunks(int *keys, unsigned size) {
    __shared__ int s_keys[CHUNK];
    const unsigned base = blockIdx.x * CHUNK;
    s_keys[threadIdx.x] = keys[base + threadIdx.x];
    s_keys[threadIdx.x + THREADS] = keys[base + threadIdx.x + THREADS];

    const bool ascending = (base & size) == 0;
    for (unsigned stride = CHUNK / 2; stride > 0; stride /= 2) {
        __syncthreads();
        const unsigned i = lower_index(threadIdx.x, stride);
        compare_exchange(s_keys[i], s_keys[i + stride], ascending);
    }
    __syncthreads();
    keys[base + threadIdx.x] = s_keys[threadIdx.x];
    keys[base + threadIdx.x + THREADS] = s_keys[threadIdx.x + THREADS];
}

static void bitonic_sort(std::vector<int> &keys) {
    unsigned padded = CHUNK;
    while (padded < keys.size()) padded *= 2;
    std::vector<int> buffer(padded, INT_MAX);
    std::copy(keys.begin(), keys.end(), buffer.begin());

    int *d_keys = nullptr;
    CUDA_CHECK(cudaMalloc(&d_keys, padded * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_keys, buffer.data(), padded * sizeof(int), cudaMemcpyHostToDevice));

    const unsigned blocks = padded / CHUNK;
    sort_chunks<<<blocks, THREADS>>>(d_keys);
    for (unsigned size = 2 * CHUNK; size <= padded; size *= 2) {
        for (unsigned stride = size / 2; stride >= CHUNK; stride /= 2) {
            merge_step_global<<<blocks, THREADS>>>(d_keys, size, stride);
        }
        merge_chunks<<<blocks, THREADS>>>(d_keys, size);
    }
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(keys.data(), d_keys, keys.size() * sizeof(int),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_keys));
}

int main() {
    for (const int count : {1, 1000, 1024, 5000, 16384}) {
        std::vector<int> keys(count);
        unsigned state = 99u + count;
        for (int &key : keys) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            key = static_cast<int>(state % 20001u) - 10000;
        }
        std::vector<int> expected = keys;
        std::sort(expected.begin(), expected.end());

        bitonic_sort(keys);

        for (int i = 0; i < count; ++i) {  // integers: exact
            if (keys[i] != expected[i]) {
                std::printf("n = %d: key %d is %d, expected %d\n", count, i, keys[i], expected[i]);
                return 1;
            }
        }
        std::printf("n = %5d: first %6d, median %6d, last %6d\n", count, keys.front(),
                    keys[count / 2], keys.back());
    }
    std::printf("PASS\n");
    return 0;
}
