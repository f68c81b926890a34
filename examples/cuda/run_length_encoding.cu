// SPDX-License-Identifier: MIT
//
// Run-length encoding and decoding of bytes. Heads of runs are flagged, numbered by a
// scan made of __shfl_up_sync (warp size 32), and scattered; the decoder finds the run
// of each output byte by binary search.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t err = (call);                                                         \
        if (err != cudaSuccess) {                                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err));          \
            exit(EXIT_FAILURE);                                                           \
        }                                                                                 \
    } while (0)

#define WARP 32
#define BLOCK 512
#define WARPS (BLOCK / WARP)

__device__ int is_head(const unsigned char *data, int i, int n) {
    return i < n && (i == 0 || data[i] != data[i - 1]);
}

__device__ int warp_inclusive_scan(int value, int lane) {
    for (int offset = 1; offset < WARP; offset *= 2) {
        int left = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset) value += left;
    }
    return value;
}

/* run_number[i] = heads up to and including i, within the block; block_heads = the total. */
__global__ void number_runs(const unsigned char *data, int n, int *run_number, int *block_heads) {
    __shared__ int warp_totals[WARPS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    int number = warp_inclusive_scan(is_head(data, i, n), lane);
    if (lane == WARP - 1) warp_totals[warp] = number;
    __syncthreads();
    if (warp == 0) {
        int total = lane < WARPS ? warp_totals[lane] : 0;
        total = warp_inclusive_scan(total, lane);
        if (lane < WARPS) warp_totals[lane] = total;
    }
    __syncthreads();
    if (warp > 0) number += warp_totals[warp - 1];

    if (i < n) run_number[i] = number;
    if (threadIdx.x == BLOCK - 1) block_heads[blockIdx.x] = number;
}

/* Few blocks: one thread turns the totals into offsets and leaves the number of runs. */
__global__ void offset_blocks(int *block_heads, int blocks, int *runs) {
    int sum = 0;
    for (int b = 0; b < blocks; ++b) {
        int heads = block_heads[b];
        block_heads[b] = sum;
        sum += heads;
    }
    *runs = sum;
}

__global__ void scatter_heads(const unsigned char *data, int n, const int *run_number,
                              const int *block_offset, unsigned char *symbols, int *starts) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (is_head(data, i, n)) {
        int run = block_offset[blockIdx.x] + run_number[i] - 1;
        symbols[run] = data[i];
        starts[run] = i;
    }
}

__global__ void decode(const unsigned char *symbols, const int *starts, int runs,
                       unsigned char *data, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    int low = 0, high = runs; /* the run sought is the last one with starts[run] <= i */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    data[i] = symbols[low];
}

int main(void) {
    const int n = 60013, blocks = (n + BLOCK - 1) / BLOCK;
    unsigned char *data = (unsigned char *)malloc(n);
    unsigned char *decoded = (unsigned char *)malloc(n);
    unsigned char *symbols = (unsigned char *)malloc(n);
    int *starts = (int *)malloc(n * sizeof(int));

    /* Runs of 1 to 64 bytes; equal neighbours merge into longer ones. */
    unsigned int state = 11u;
    for (int i = 0; i < n;) {
        state = state * 1664525u + 1013904223u;
        int length = 1 + (int)((state >> 24) % 64);
        unsigned char symbol = (unsigned char)('a' + (state >> 16) % 4);
        while (length-- > 0 && i < n) data[i++] = symbol;
    }

    unsigned char *d_data, *d_symbols, *d_decoded;
    int *d_run_number, *d_block_heads, *d_starts, *d_runs;
    CUDA_CHECK(cudaMalloc((void **)&d_data, n));
    CUDA_CHECK(cudaMalloc((void **)&d_symbols, n));
    CUDA_CHECK(cudaMalloc((void **)&d_decoded, n));
    CUDA_CHECK(cudaMalloc((void **)&d_run_number, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_starts, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_block_heads, blocks * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_runs, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice));

    int runs = 0;
    number_runs<<<blocks, BLOCK>>>(d_data, n, d_run_number, d_block_heads);
    offset_blocks<<<1, 1>>>(d_block_heads, blocks, d_runs);
    scatter_heads<<<blocks, BLOCK>>>(d_data, n, d_run_number, d_block_heads, d_symbols, d_starts);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&runs, d_runs, sizeof(int), cudaMemcpyDeviceToHost));
    if (runs < 1 || runs > n) {
        printf("%d runs, expected 1 to %d\n", runs, n);
        return 1;
    }
    decode<<<blocks, BLOCK>>>(d_symbols, d_starts, runs, d_decoded, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(symbols, d_symbols, runs, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(starts, d_starts, runs * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(decoded, d_decoded, n, cudaMemcpyDeviceToHost));

    /* Everything is exact: walk the runs on the CPU, then compare the decoded bytes. */
    int result = 0, run = 0, longest = 0;
    for (int i = 0; i < n && result == 0; ++run) {
        int end = i;
        while (end < n && data[end] == data[i]) ++end;
        if (run >= runs || symbols[run] != data[i] || starts[run] != i) {
            printf("run %d of %d does not start with '%c' at %d\n", run, runs, data[i], i);
            result = 1;
        }
        if (end - i > longest) longest = end - i;
        i = end;
    }
    if (result == 0 && run != runs) {
        printf("%d runs, expected %d\n", runs, run);
        result = 1;
    }
    if (result == 0 && memcmp(data, decoded, n) != 0) {
        printf("the decoded bytes differ from the input\n");
        result = 1;
    }
    if (result == 0) printf("%d bytes in %d runs, the longest %d\nPASS\n", n, runs, longest);

    CUDA_CHECK(cudaFree(d_data));
    CUDA_CHECK(cudaFree(d_symbols));
    CUDA_CHECK(cudaFree(d_decoded));
    CUDA_CHECK(cudaFree(d_run_number));
    CUDA_CHECK(cudaFree(d_starts));
    CUDA_CHECK(cudaFree(d_block_heads));
    CUDA_CHECK(cudaFree(d_runs));
    free(data);
    free(decoded);
    free(symbols);
    free(starts);
    return result;
}
