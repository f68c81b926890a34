// SPDX-License-Identifier: MIT
//
// Sparse matrix-vector product with a CSR matrix: one thread for each row against a
// group of lanes for each row, where the group size is a template parameter and the
// partial sums meet through __shfl_down_sync with a width. Warp size 32.
#include <cuda_runtime.h>

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

struct CsrView {
    int rows;
    const int *row_offsets;
    const int *columns;
    const float *values;
};

__global__ void spmv_scalar(CsrView matrix, const float *__restrict__ x, float *__restrict__ y) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= matrix.rows) return;
    float sum = 0.0f;
    for (int i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
        sum += matrix.values[i] * x[matrix.columns[i]];
    }
    y[row] = sum;
}

template <int LANES_PER_ROW>
__global__ void spmv_vector(CsrView matrix, const float *__restrict__ x, float *__restrict__ y) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / LANES_PER_ROW;
    const int lane = thread % LANES_PER_ROW;

    // No early return: every lane of a warp takes part in the shuffles.
    float sum = 0.0f;
    if (row < matrix.rows) {
        const int end = matrix.row_offsets[row + 1];
        for (int i = matrix.row_offsets[row] + lane; i < end; i += LANES_PER_ROW) {
            sum += matrix.values[i] * x[matrix.columns[i]];
        }
    }
    for (int offset = LANES_PER_ROW / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset, LANES_PER_ROW);
    }
    if (row < matrix.rows && lane == 0) y[row] = sum;
}

static bool check(const char *name, const float *d_y, const std::vector<double> &expected) {
    const double tolerance = 1e-4;  // relative to 1 + |expected|
    std::vector<float> y(expected.size());
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0.0;
    for (size_t row = 0; row < y.size(); ++row) {
        if (!(std::fabs(y[row] - expected[row]) <= tolerance * (1.0 + std::fabs(expected[row])))) {
            std::printf("%s: row %zu is %f, expected %f\n", name, row, y[row], expected[row]);
            return false;
        }
        sum += std::fabs(y[row]);
    }
    std::printf("%-16s sum of |y| = %.2f\n", name, sum);
    return true;
}

int main() {
    const int rows = 4099, cols = 3001;

    // Row lengths vary from empty to 40 entries.
    std::vector<int> row_offsets(1, 0), columns;
    std::vector<float> values;
    for (int row = 0; row < rows; ++row) {
        const int length = (row % 10 == 0) ? 0 : (row * 7) % 41;
        for (int i = 0; i < length; ++i) {
            columns.push_back((row * 31 + i * 67) % cols);
            values.push_back(static_cast<float>((row + 3 * i) % 19) / 9.0f - 1.0f);
        }
        row_offsets.push_back(static_cast<int>(columns.size()));
    }
    std::vector<float> x(cols);
    for (int col = 0; col < cols; ++col) x[col] = 0.5f + static_cast<float>(col % 8) / 8.0f;

    std::vector<double> expected(rows, 0.0);
    for (int row = 0; row < rows; ++row) {
        for (int i = row_offsets[row]; i < row_offsets[row + 1]; ++i) {
            expected[row] += static_cast<double>(values[i]) * x[columns[i]];
        }
    }

    int *d_row_offsets = nullptr, *d_columns = nullptr;
    float *d_values = nullptr, *d_x = nullptr, *d_y = nullptr;
    CUDA_CHECK(cudaMalloc(&d_row_offsets, row_offsets.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_columns, columns.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_values, values.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_x, cols * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_y, rows * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_row_offsets, row_offsets.data(), row_offsets.size() * sizeof(int),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(int),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_x, x.data(), cols * sizeof(float), cudaMemcpyHostToDevice));

    const CsrView matrix = {rows, d_row_offsets, d_columns, d_values};
    const int block = 128;
    auto blocks_for = [&](int threads) { return (threads + block - 1) / block; };

    std::printf("%d x %d matrix, %zu entries\n", rows, cols, values.size());
    spmv_scalar<<<blocks_for(rows), block>>>(matrix, d_x, d_y);
    bool ok = check("1 lane a row", d_y, expected);
    spmv_vector<8><<<blocks_for(8 * rows), block>>>(matrix, d_x, d_y);
    ok = ok && check("8 lanes a row", d_y, expected);
    spmv_vector<32><<<blocks_for(32 * rows), block>>>(matrix, d_x, d_y);
    ok = ok && check("32 lanes a row", d_y, expected);

    CUDA_CHECK(cudaFree(d_row_offsets));
    CUDA_CHECK(cudaFree(d_columns));
    CUDA_CHECK(cudaFree(d_values));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    if (!ok) return 1;
    std::printf("PASS\n");
    return 0;
}
