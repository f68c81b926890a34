// SPDX-License-Identifier: MIT
//
// Matrix-vector product y = alpha * A * x + beta * y, one warp for each row.
// The lanes of a warp stride over the columns and combine their partial sums
// with __shfl_down_sync. The warp size is taken to be 32.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WARP_SIZE 32
#define WARPS_PER_BLOCK 4
#define FULL_MASK 0xffffffffu

#define CUDA_CHECK(call)                                                                    \
    do {                                                                                    \
        cudaError_t err = (call);                                                           \
        if (err != cudaSuccess) {                                                           \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(err)); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

__device__ float warp_sum(float value) {
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(FULL_MASK, value, offset);
    }
    return value;  // valid in lane 0
}

__global__ void gemv(int rows, int cols, float alpha, const float *a, const float *x, float beta,
                     float *y) {
    int lane = threadIdx.x % WARP_SIZE;
    int row = blockIdx.x * WARPS_PER_BLOCK + threadIdx.x / WARP_SIZE;
    if (row >= rows) {
        return;  // the whole warp leaves together
    }

    float sum = 0.0f;
    for (int col = lane; col < cols; col += WARP_SIZE) {
        sum += a[(size_t)row * cols + col] * x[col];
    }
    sum = warp_sum(sum);

    if (lane == 0) {
        y[row] = alpha * sum + beta * y[row];
    }
}

int main(void) {
    const int rows = 203;
    const int cols = 517;
    const float alpha = 1.5f;
    const float beta = -0.25f;
    const double tolerance = 1e-4; /* relative to 1 + |expected| */

    float *a = (float *)malloc(sizeof(float) * rows * cols);
    float *x = (float *)malloc(sizeof(float) * cols);
    float *y = (float *)malloc(sizeof(float) * rows);
    double *expected = (double *)malloc(sizeof(double) * rows);

    for (int i = 0; i < rows * cols; ++i) a[i] = sinf(0.01f * (float)i);
    for (int i = 0; i < cols; ++i) x[i] = cosf(0.02f * (float)i);
    for (int i = 0; i < rows; ++i) y[i] = (float)(i % 7);

    for (int row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (int col = 0; col < cols; ++col) sum += (double)a[row * cols + col] * x[col];
        expected[row] = alpha * sum + beta * y[row];
    }

    float *d_a, *d_x, *d_y;
    CUDA_CHECK(cudaMalloc((void **)&d_a, sizeof(float) * rows * cols));
    CUDA_CHECK(cudaMalloc((void **)&d_x, sizeof(float) * cols));
    CUDA_CHECK(cudaMalloc((void **)&d_y, sizeof(float) * rows));
    CUDA_CHECK(cudaMemcpy(d_a, a, sizeof(float) * rows * cols, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_x, x, sizeof(float) * cols, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_y, y, sizeof(float) * rows, cudaMemcpyHostToDevice));

    int blocks = (rows + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK;
    gemv<<<blocks, WARPS_PER_BLOCK * WARP_SIZE>>>(rows, cols, alpha, d_a, d_x, beta, d_y);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(y, d_y, sizeof(float) * rows, cudaMemcpyDeviceToHost));

    int result = 0;
    double norm = 0.0;
    for (int row = 0; row < rows; ++row) {
        if (!(fabs(y[row] - expected[row]) <= tolerance * (1.0 + fabs(expected[row])))) {
            printf("mismatch in row %d: %f, expected %f\n", row, y[row], expected[row]);
            result = 1;
            break;
        }
        norm += (double)y[row] * y[row];
    }
    if (result == 0) {
        printf("gemv %dx%d: |y| = %.3f\nPASS\n", rows, cols, sqrt(norm));
    }

    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    free(a);
    free(x);
    free(y);
    free(expected);
    return result;
}
