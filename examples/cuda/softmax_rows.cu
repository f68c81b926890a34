// SPDX-License-Identifier: MIT
//
// Numerically stable softmax over the rows of a matrix, one block for each row. The
// maximum and the sum are found with warp shuffles first and shared memory second.
// The warp size is taken to be 32.
#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
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

constexpr int WARP = 32;
constexpr int BLOCK = 128;
constexpr int WARPS = BLOCK / WARP;

struct MaxOp {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SumOp {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Every thread of the block gets the combined value.
template <typename Op>
__device__ float block_all_reduce(float value, Op op) {
    __shared__ float s_partial[WARPS];
    for (int mask = WARP / 2; mask > 0; mask /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    if (threadIdx.x % WARP == 0) s_partial[threadIdx.x / WARP] = value;
    __syncthreads();
    value = s_partial[0];
    for (int w = 1; w < WARPS; ++w) value = op(value, s_partial[w]);
    __syncthreads();  // s_partial may be used again
    return value;
}

__global__ void softmax(const float *__restrict__ logits, float *__restrict__ probabilities,
                        int columns) {
    const float *row = logits + static_cast<size_t>(blockIdx.x) * columns;
    float *out = probabilities + static_cast<size_t>(blockIdx.x) * columns;

    float maximum = -FLT_MAX;
    for (int i = threadIdx.x; i < columns; i += BLOCK) maximum = fmaxf(maximum, row[i]);
    maximum = block_all_reduce(maximum, MaxOp{});

    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += BLOCK) {
        const float e = expf(row[i] - maximum);
        out[i] = e;
        sum += e;
    }
    sum = block_all_reduce(sum, SumOp{});

    const float scale = 1.0f / sum;
    for (int i = threadIdx.x; i < columns; i += BLOCK) out[i] *= scale;
}

int main() {
    const int rows = 61, columns = 1003;
    const double tolerance = 1e-5;  // relative to the largest probability of the row, plus 1e-7

    // Large offsets would overflow expf without the subtraction of the maximum.
    std::vector<float> logits(rows * columns), probabilities(rows * columns);
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < columns; ++col) {
            logits[row * columns + col] = 3.0f * std::sin(0.05f * static_cast<float>(col * row)) +
                                          static_cast<float>(col % 7) +
                                          50.0f * static_cast<float>(row);
        }
    }

    const size_t bytes = logits.size() * sizeof(float);
    float *d_logits = nullptr, *d_probabilities = nullptr;
    CUDA_CHECK(cudaMalloc(&d_logits, bytes));
    CUDA_CHECK(cudaMalloc(&d_probabilities, bytes));
    CUDA_CHECK(cudaMemcpy(d_logits, logits.data(), bytes, cudaMemcpyHostToDevice));
    softmax<<<rows, BLOCK>>>(d_logits, d_probabilities, columns);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(probabilities.data(), d_probabilities, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_logits));
    CUDA_CHECK(cudaFree(d_probabilities));

    double entropy = 0.0;
    for (int row = 0; row < rows; ++row) {
        const float *x = &logits[row * columns];
        const float *p = &probabilities[row * columns];
        const double maximum = *std::max_element(x, x + columns);
        double sum = 0.0;
        for (int col = 0; col < columns; ++col) sum += std::exp(x[col] - maximum);
        for (int col = 0; col < columns; ++col) {
            const double expected = std::exp(x[col] - maximum) / sum;
            if (!(std::fabs(p[col] - expected) <= tolerance / sum + 1e-7)) {
                std::printf("row %d, column %d: %.8f, expected %.8f\n", row, col, p[col],
                            expected);
                return 1;
            }
            if (p[col] > 0.0f) entropy -= p[col] * std::log(static_cast<double>(p[col]));
        }
    }
    std::printf("%d rows of %d: mean entropy %.4f\nPASS\n", rows, columns, entropy / rows);
    return 0;
}
