// SPDX-License-Identifier: MIT
//
// Layer normalisation, one cooperative-groups tile of 16 threads for each row: the
// tile's shfl_xor gives mean and variance, its shfl hands a value from lane 0 to all,
// and its any() finds rows with values that are not finite, which are set to zero.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace cg = cooperative_groups;

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

constexpr int TILE = 16;
constexpr int BLOCK = 128;
constexpr int ROWS_PER_BLOCK = BLOCK / TILE;
constexpr float EPSILON = 1e-5f;

template <typename Group>
__device__ float tile_sum(const Group &tile, float value) {
    for (int mask = TILE / 2; mask > 0; mask /= 2) {
        value += tile.shfl_xor(value, mask);
    }
    return value;
}

__global__ void layer_norm(const float *in, const float *gamma, const float *beta, float *out,
                           int *skipped, int rows, int columns) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<TILE> tile = cg::tiled_partition<TILE>(block);
    const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / TILE;
    if (row >= rows) return;  // whole tiles leave together

    const int lane = tile.thread_rank();
    const float *x = in + static_cast<size_t>(row) * columns;
    float *y = out + static_cast<size_t>(row) * columns;

    bool finite = true;
    float sum = 0.0f;
    for (int i = lane; i < columns; i += TILE) {
        finite = finite && isfinite(x[i]);
        sum += x[i];
    }
    if (tile.any(!finite)) {
        for (int i = lane; i < columns; i += TILE) y[i] = 0.0f;
        if (lane == 0) atomicAdd(skipped, 1);
        return;
    }
    const float mean = tile_sum(tile, sum) / static_cast<float>(columns);

    float squares = 0.0f;
    for (int i = lane; i < columns; i += TILE) {
        const float d = x[i] - mean;
        squares += d * d;
    }
    squares = tile_sum(tile, squares);
    float scale = 0.0f;
    if (lane == 0) scale = rsqrtf(squares / static_cast<float>(columns) + EPSILON);
    scale = tile.shfl(scale, 0);

    for (int i = lane; i < columns; i += TILE) {
        y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
    }
}

int main() {
    const int rows = 203, columns = 77;
    const int bad_rows[] = {10, 100};
    const double tolerance = 1e-4;  // absolute, for values of order one

    std::vector<float> in(rows * columns), out(in.size()), gamma(columns), beta(columns);
    for (int i = 0; i < rows * columns; ++i) {
        in[i] = 5.0f + 2.0f * std::sin(0.7f * static_cast<float>(i)) +
                static_cast<float>(i % 13) / 13.0f;
    }
    in[bad_rows[0] * columns + 76] = std::numeric_limits<float>::infinity();
    in[bad_rows[1] * columns + 3] = std::numeric_limits<float>::quiet_NaN();
    for (int i = 0; i < columns; ++i) {
        gamma[i] = 1.0f + static_cast<float>(i) / 100.0f;
        beta[i] = static_cast<float>(i % 4) / 4.0f;
    }

    const size_t bytes = in.size() * sizeof(float);
    float *d_in = nullptr, *d_out = nullptr, *d_gamma = nullptr, *d_beta = nullptr;
    int *d_skipped = nullptr, skipped = 0;
    CUDA_CHECK(cudaMalloc(&d_in, bytes));
    CUDA_CHECK(cudaMalloc(&d_out, bytes));
    CUDA_CHECK(cudaMalloc(&d_gamma, columns * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_beta, columns * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_skipped, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_gamma, gamma.data(), columns * sizeof(float),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_beta, beta.data(), columns * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_skipped, 0, sizeof(int)));

    const int blocks = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
    layer_norm<<<blocks, BLOCK>>>(d_in, d_gamma, d_beta, d_out, d_skipped, rows, columns);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&skipped, d_skipped, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_gamma));
    CUDA_CHECK(cudaFree(d_beta));
    CUDA_CHECK(cudaFree(d_skipped));

    double checksum = 0.0;
    for (int row = 0; row < rows; ++row) {
        const bool bad = row == bad_rows[0] || row == bad_rows[1];
        double mean = 0.0, variance = 0.0;
        for (int i = 0; i < columns; ++i) mean += in[row * columns + i] / columns;
        for (int i = 0; i < columns; ++i) {
            const double d = in[row * columns + i] - mean;
            variance += d * d / columns;
        }
        for (int i = 0; i < columns; ++i) {
            const double normal = (in[row * columns + i] - mean) / std::sqrt(variance + EPSILON);
            const double expected = bad ? 0.0 : normal * gamma[i] + beta[i];
            const float value = out[row * columns + i];
            if (!(std::fabs(value - expected) <= tolerance)) {
                std::printf("row %d, column %d: %f, expected %f\n", row, i, value, expected);
                return 1;
            }
            checksum += std::fabs(value);
        }
    }
    if (skipped != 2) {
        std::printf("%d rows were skipped, expected 2\n", skipped);
        return 1;
    }
    std::printf("%d rows of %d, %d skipped: sum of |y| = %.1f\nPASS\n", rows, columns, skipped,
                checksum);
    return 0;
}
