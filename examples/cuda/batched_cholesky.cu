// SPDX-License-Identifier: MIT
//
// Cholesky factorisation A = L * L^T of a batch of small positive definite
// matrices in double precision, one matrix for each block. The matrix lives in
// dynamic shared memory, whose size depends on the order given at run time.
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

// Right-looking factorisation in place; info[batch] is 0, or 1 + the first bad pivot.
__global__ void cholesky_batched(double *matrices, int *info, int n) {
    extern __shared__ double s_matrix[];
    __shared__ int s_info;

    double *matrix = matrices + static_cast<size_t>(blockIdx.x) * n * n;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
        s_matrix[i] = matrix[i];
    }
    if (threadIdx.x == 0) s_info = 0;
    __syncthreads();

    for (int k = 0; k < n; ++k) {
        if (threadIdx.x == 0) {
            const double pivot = s_matrix[k * n + k];
            if (pivot <= 0.0) {
                s_info = k + 1;
            } else {
                s_matrix[k * n + k] = sqrt(pivot);
            }
        }
        __syncthreads();
        if (s_info != 0) break;  // uniform: every thread reads the same flag

        const double diagonal = s_matrix[k * n + k];
        for (int row = k + 1 + threadIdx.x; row < n; row += blockDim.x) {
            s_matrix[row * n + k] /= diagonal;
        }
        __syncthreads();

        // Trailing update; a thread owns whole rows, so no two threads share an element.
        for (int row = k + 1 + threadIdx.x; row < n; row += blockDim.x) {
            const double factor = s_matrix[row * n + k];
            for (int col = k + 1; col <= row; ++col) {
                s_matrix[row * n + col] -= factor * s_matrix[col * n + k];
            }
        }
        __syncthreads();
    }

    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
        const int row = i / n, col = i % n;
        matrix[i] = (col <= row) ? s_matrix[i] : 0.0;
    }
    if (threadIdx.x == 0) info[blockIdx.x] = s_info;
}

int main() {
    const int batch = 24, n = 27;
    const double tolerance = 1e-11;  // relative to the largest entry, for L * L^T - A
    const size_t size = static_cast<size_t>(n) * n;

    // A = B * B^T + n * I is positive definite; the last matrix is made indefinite.
    std::vector<double> a(batch * size), l(batch * size);
    for (int m = 0; m < batch; ++m) {
        std::vector<double> b(size);
        for (size_t i = 0; i < size; ++i) b[i] = std::sin(0.3 * static_cast<double>(i + 7 * m));
        for (int row = 0; row < n; ++row) {
            for (int col = 0; col < n; ++col) {
                double sum = (row == col) ? n : 0.0;
                for (int k = 0; k < n; ++k) sum += b[row * n + k] * b[col * n + k];
                a[m * size + row * n + col] = sum;
            }
        }
    }
    a[(batch - 1) * size + 5 * n + 5] = -1.0;

    double *d_matrices = nullptr;
    int *d_info = nullptr;
    CUDA_CHECK(cudaMalloc(&d_matrices, a.size() * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&d_info, batch * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_matrices, a.data(), a.size() * sizeof(double),
                          cudaMemcpyHostToDevice));

    cholesky_batched<<<batch, 32, size * sizeof(double)>>>(d_matrices, d_info, n);
    CUDA_CHECK(cudaGetLastError());

    std::vector<int> info(batch);
    CUDA_CHECK(cudaMemcpy(l.data(), d_matrices, l.size() * sizeof(double),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(info.data(), d_info, batch * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_matrices));
    CUDA_CHECK(cudaFree(d_info));

    double log_det = 0.0;
    for (int m = 0; m < batch; ++m) {
        const int expected_info = (m == batch - 1) ? 6 : 0;
        if (info[m] != expected_info) {
            std::printf("matrix %d: info = %d, expected %d\n", m, info[m], expected_info);
            return 1;
        }
        if (expected_info != 0) continue;
        const double *factor = &l[m * size];
        for (int row = 0; row < n; ++row) {
            for (int col = 0; col <= row; ++col) {
                double sum = 0.0;
                for (int k = 0; k <= col; ++k) sum += factor[row * n + k] * factor[col * n + k];
                const double expected = a[m * size + row * n + col];
                if (!(std::fabs(sum - expected) <= tolerance * 2.0 * n)) {
                    std::printf("matrix %d: (L L^T)(%d, %d) = %.12f, expected %.12f\n", m, row,
                                col, sum, expected);
                    return 1;
                }
            }
            log_det += 2.0 * std::log(factor[row * n + row]);
        }
    }
    std::printf("%d matrices of order %d, 1 refused at pivot 6\n", batch, n);
    std::printf("sum of log-determinants = %.6f\nPASS\n", log_det);
    return 0;
}
