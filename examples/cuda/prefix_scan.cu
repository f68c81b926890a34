// SPDX-License-Identifier: MIT
//
// Exclusive prefix sum of any length with Blelloch's work-efficient scan: each
// block scans 512 elements in shared memory (up-sweep, down-sweep), the block
// totals are scanned recursively, and a last kernel adds the block offsets.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t err = (call);                                                         \
        if (err != cudaSuccess) {                                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err));          \
            exit(EXIT_FAILURE);                                                           \
        }                                                                                 \
    } while (0)

#define SCAN_THREADS 256
#define SCAN_ELEMENTS (2 * SCAN_THREADS)

// One pad word every 32 avoids bank conflicts in the tree phases.
#define PADDED(i) ((i) + ((i) >> 5))

__global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *block_sums, int n) {
    __shared__ unsigned temp[PADDED(SCAN_ELEMENTS)];
    int tid = threadIdx.x;
    int first = blockIdx.x * SCAN_ELEMENTS + tid;
    int second = first + SCAN_THREADS;

    temp[PADDED(tid)] = first < n ? in[first] : 0u;
    temp[PADDED(tid + SCAN_THREADS)] = second < n ? in[second] : 0u;

    // Up-sweep: build the sums in place.
    int offset = 1;
    for (int d = SCAN_THREADS; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int left = offset * (2 * tid + 1) - 1;
            int right = offset * (2 * tid + 2) - 1;
            temp[PADDED(right)] += temp[PADDED(left)];
        }
        offset <<= 1;
    }

    if (tid == 0) {
        block_sums[blockIdx.x] = temp[PADDED(SCAN_ELEMENTS - 1)];
        temp[PADDED(SCAN_ELEMENTS - 1)] = 0u;
    }

    // Down-sweep: pass the sums of everything to the left back down the tree.
    for (int d = 1; d < SCAN_ELEMENTS; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int left = offset * (2 * tid + 1) - 1;
            int right = offset * (2 * tid + 2) - 1;
            unsigned t = temp[PADDED(left)];
            temp[PADDED(left)] = temp[PADDED(right)];
            temp[PADDED(right)] += t;
        }
    }
    __syncthreads();

    if (first < n) out[first] = temp[PADDED(tid)];
    if (second < n) out[second] = temp[PADDED(tid + SCAN_THREADS)];
}

__global__ void add_block_offsets(unsigned *data, const unsigned *offsets, int n) {
    int i = blockIdx.x * SCAN_ELEMENTS + threadIdx.x;
    unsigned offset = offsets[blockIdx.x];
    if (i < n) data[i] += offset;
    if (i + SCAN_THREADS < n) data[i + SCAN_THREADS] += offset;
}

static void exclusive_scan(const unsigned *d_in, unsigned *d_out, int n) {
    int blocks = (n + SCAN_ELEMENTS - 1) / SCAN_ELEMENTS;
    unsigned *d_sums, *d_offsets;
    CUDA_CHECK(cudaMalloc((void **)&d_sums, blocks * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc((void **)&d_offsets, blocks * sizeof(unsigned)));

    scan_blocks<<<blocks, SCAN_THREADS>>>(d_in, d_out, d_sums, n);
    CUDA_CHECK(cudaGetLastError());
    if (blocks > 1) {
        exclusive_scan(d_sums, d_offsets, blocks);
        add_block_offsets<<<blocks, SCAN_THREADS>>>(d_out, d_offsets, n);
        CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaFree(d_sums));
    CUDA_CHECK(cudaFree(d_offsets));
}

static int check(int n) {
    unsigned *in = (unsigned *)malloc(n * sizeof(unsigned));
    unsigned *out = (unsigned *)malloc(n * sizeof(unsigned));
    for (int i = 0; i < n; ++i) in[i] = (unsigned)i * 2654435761u >> 24;

    unsigned *d_in, *d_out;
    CUDA_CHECK(cudaMalloc((void **)&d_in, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc((void **)&d_out, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(d_in, in, n * sizeof(unsigned), cudaMemcpyHostToDevice));
    exclusive_scan(d_in, d_out, n);
    CUDA_CHECK(cudaMemcpy(out, d_out, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));

    int ok = 1;
    unsigned running = 0;
    for (int i = 0; i < n && ok; ++i) { /* integers: exact */
        if (out[i] != running) {
            printf("n = %d: element %d is %u, expected %u\n", n, i, out[i], running);
            ok = 0;
        }
        running += in[i];
    }
    if (ok) printf("n = %6d: last prefix = %u\n", n, out[n - 1]);
    free(in);
    free(out);
    return ok;
}

int main(void) {
    const int sizes[] = {1, 31, 512, 513, 20011, 300007};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        if (!check(sizes[i])) return 1;
    }
    printf("PASS\n");
    return 0;
}
