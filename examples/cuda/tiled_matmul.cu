// SPDX-License-Identifier: MIT
//
// Matrix product C = A * B with square tiles of A and B staged in shared memory.
// The sizes are no multiples of the tile, so every load and store is guarded;
// the tile width is a template parameter and two widths must agree with the CPU.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                              \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                   \
                         cudaGetErrorString(status));                                 \
            std::exit(EXIT_FAILURE);                                                  \
        }                                                                             \
    } while (0)

template <int TILE>
__global__ void matmul_tiled(const float *__restrict__ a, const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int k) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += TILE) {
        const int a_col = start + threadIdx.x;
        const int b_row = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = (row < m && a_col < k) ? a[row * k + a_col] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = (b_row < k && col < n) ? b[b_row * n + col] : 0.0f;
        __syncthreads();

#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        }
        __syncthreads();
    }

    if (row < m && col < n) {
        c[row * n + col] = sum;
    }
}

static void matmul_reference(const std::vector<float> &a, const std::vector<float> &b,
                             std::vector<float> &c, int m, int n, int k) {
    for (int row = 0; row < m; ++row) {
        for (int col = 0; col < n; ++col) {
            double sum = 0.0;
            for (int i = 0; i < k; ++i) {
                sum += static_cast<double>(a[row * k + i]) * b[i * n + col];
            }
            c[row * n + col] = static_cast<float>(sum);
        }
    }
}

template <int TILE>
static bool run_and_compare(const float *d_a, const float *d_b, float *d_c,
                            const std::vector<float> &expected, int m, int n, int k) {
    const float tolerance = 1e-4f;  // absolute; sums of 75 products of values in [-1, 1]
    const dim3 block(TILE, TILE);
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    CUDA_CHECK(cudaMemset(d_c, 0xff, expected.size() * sizeof(float)));
    matmul_tiled<TILE><<<grid, block>>>(d_a, d_b, d_c, m, n, k);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> c(expected.size());
    CUDA_CHECK(cudaMemcpy(c.data(), d_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));

    double checksum = 0.0;
    for (size_t i = 0; i < c.size(); ++i) {
        if (!(std::fabs(c[i] - expected[i]) <= tolerance)) {
            std::printf("tile %d: mismatch at (%d, %d): %f, expected %f\n", TILE,
                        static_cast<int>(i) / n, static_cast<int>(i) % n, c[i], expected[i]);
            return false;
        }
        checksum += std::fabs(c[i]);
    }
    std::printf("tile %2d: sum of |C| = %.2f\n", TILE, checksum);
    return true;
}

int main() {
    const int m = 93, n = 70, k = 75;

    std::vector<float> a(m * k), b(k * n), expected(m * n);
    for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>((i * 37) % 101 - 50) / 50.0f;
    for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>((i * 53) % 97 - 48) / 48.0f;
    matmul_reference(a, b, expected, m, n, k);

    float *d_a = nullptr, *d_b = nullptr, *d_c = nullptr;
    CUDA_CHECK(cudaMalloc(&d_a, a.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_b, b.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_c, expected.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

    const bool ok = run_and_compare<8>(d_a, d_b, d_c, expected, m, n, k) &&
                    run_and_compare<16>(d_a, d_b, d_c, expected, m, n, k);

    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
    CUDA_CHECK(cudaFree(d_c));
    if (!ok) return 1;
    std::printf("matmul %dx%dx%d: PASS\n", m, n, k);
    return 0;
}
