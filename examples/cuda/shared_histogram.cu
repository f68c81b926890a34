// SPDX-License-Identifier: MIT
//
// Histogram of bytes with 256 bins. Each block counts into its own copy in shared
// memory with atomicAdd and merges it into global memory once; the bulk of the
// input is read as uchar4, the last bytes one by one.
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

#define BINS 256

__global__ void histogram(const unsigned char *data, size_t size, unsigned int *bins) {
    __shared__ unsigned int local[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        local[bin] = 0;
    }
    __syncthreads();

    const uchar4 *data4 = (const uchar4 *)data;  // cudaMalloc aligns far more than this needs
    size_t quads = size / 4;
    size_t tid = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = tid; i < quads; i += stride) {
        uchar4 v = data4[i];
        atomicAdd(&local[v.x], 1u);
        atomicAdd(&local[v.y], 1u);
        atomicAdd(&local[v.z], 1u);
        atomicAdd(&local[v.w], 1u);
    }
    if (tid < size % 4) {
        atomicAdd(&local[data[4 * quads + tid]], 1u);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        if (local[bin] != 0) {
            atomicAdd(&bins[bin], local[bin]);
        }
    }
}

int main(void) {
    const size_t size = 150003;
    unsigned char *data = (unsigned char *)malloc(size);
    unsigned int expected[BINS] = {0};
    unsigned int bins[BINS];

    /* The sum of two dice of 0..127: a triangle, with its peak in the middle. */
    unsigned int state = 7u;
    for (size_t i = 0; i < size; ++i) {
        state = state * 1103515245u + 12345u;
        data[i] = (unsigned char)(((state >> 24) & 127u) + ((state >> 16) & 127u));
        ++expected[data[i]];
    }

    unsigned char *d_data;
    unsigned int *d_bins;
    CUDA_CHECK(cudaMalloc((void **)&d_data, size));
    CUDA_CHECK(cudaMalloc((void **)&d_bins, sizeof(bins)));
    CUDA_CHECK(cudaMemcpy(d_data, data, size, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_bins, 0, sizeof(bins)));

    histogram<<<12, 192>>>(d_data, size, d_bins);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(bins, d_bins, sizeof(bins), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_data));
    CUDA_CHECK(cudaFree(d_bins));
    free(data);

    int mode = 0;
    for (int bin = 0; bin < BINS; ++bin) { /* integers: exact */
        if (bins[bin] != expected[bin]) {
            printf("bin %d holds %u, expected %u\n", bin, bins[bin], expected[bin]);
            return 1;
        }
        if (bins[bin] > bins[mode]) mode = bin;
    }
    printf("%zu bytes, most frequent value %d (%u times), value 0 %u times\nPASS\n", size, mode,
           bins[mode], bins[0]);
    return 0;
}
