// SPDX-License-Identifier: MIT
//
// Half precision: y = a * x + y on pairs with __hfma2, the odd last element with
// __hfma, and a dot product that multiplies halves but adds up in float.
#include <cuda_fp16.h>
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

constexpr int BLOCK = 128;

__global__ void axpy(int n, __half a, const __half *x, __half *y) {
    const int pairs = n / 2;
    const __half2 *x2 = reinterpret_cast<const __half2 *>(x);
    __half2 *y2 = reinterpret_cast<__half2 *>(y);
    const __half2 a2 = __half2half2(a);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) {
        y2[i] = __hfma2(a2, x2[i], y2[i]);
    } else if (i == pairs && n % 2 == 1) {
        y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
    }
}

// partial[block] = sum of x[i] * y[i] over the block's part.
__global__ void dot(int n, const __half *x, const __half *y, float *partial) {
    __shared__ float s_sum[BLOCK];
    float sum = 0.0f;
    const int pairs = n / 2;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < pairs; i += gridDim.x * BLOCK) {
        const float2 fx = __half22float2(reinterpret_cast<const __half2 *>(x)[i]);
        const float2 fy = __half22float2(reinterpret_cast<const __half2 *>(y)[i]);
        sum += fx.x * fy.x + fx.y * fy.y;
    }
    if (n % 2 == 1 && blockIdx.x == 0 && threadIdx.x == 0) {
        sum += __half2float(x[n - 1]) * __half2float(y[n - 1]);
    }
    s_sum[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) s_sum[threadIdx.x] += s_sum[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s_sum[0];
}

int main() {
    const int n = 30011, dot_blocks = 16;
    const float a = 0.75f;
    // |y| stays below 4, where neighbouring halves are 1 / 512 apart.
    const float axpy_tolerance = 1.0f / 512.0f;
    const double dot_tolerance = 1e-5;  // relative to the sum of |x * y|

    std::vector<__half> x(n), y(n), result(n);
    std::vector<float> fx(n), fy(n);
    for (int i = 0; i < n; ++i) {
        x[i] = __float2half(std::sin(0.01f * static_cast<float>(i)));
        y[i] = __float2half(static_cast<float>(i % 41) / 20.0f - 0.5f);
        fx[i] = __half2float(x[i]);
        fy[i] = __half2float(y[i]);
    }

    __half *d_x = nullptr, *d_y = nullptr;
    float *d_partial = nullptr;
    CUDA_CHECK(cudaMalloc(&d_x, n * sizeof(__half)));
    CUDA_CHECK(cudaMalloc(&d_y, n * sizeof(__half)));
    CUDA_CHECK(cudaMalloc(&d_partial, dot_blocks * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_y, y.data(), n * sizeof(__half), cudaMemcpyHostToDevice));

    const int work_items = n / 2 + n % 2;
    axpy<<<(work_items + BLOCK - 1) / BLOCK, BLOCK>>>(n, __float2half(a), d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    dot<<<dot_blocks, BLOCK>>>(n, d_x, d_y, d_partial);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> partial(dot_blocks);
    CUDA_CHECK(cudaMemcpy(result.data(), d_y, n * sizeof(__half), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(partial.data(), d_partial, dot_blocks * sizeof(float),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    CUDA_CHECK(cudaFree(d_partial));

    double expected_dot = 0.0, magnitude = 0.0, sum = 0.0;
    for (int i = 0; i < n; ++i) {
        const float value = __half2float(result[i]);
        const float expected = a * fx[i] + fy[i];
        if (!(std::fabs(value - expected) <= axpy_tolerance)) {
            std::printf("element %d is %f, expected %f\n", i, value, expected);
            return 1;
        }
        sum += value;
        expected_dot += static_cast<double>(fx[i]) * value;
        magnitude += std::fabs(static_cast<double>(fx[i]) * value);
    }
    double dot_product = 0.0;
    for (float part : partial) dot_product += part;
    if (!(std::fabs(dot_product - expected_dot) <= dot_tolerance * magnitude)) {
        std::printf("dot product is %f, expected %f\n", dot_product, expected_dot);
        return 1;
    }
    std::printf("%d halves: sum of y = %.1f, x . y = %.1f\nPASS\n", n, sum, dot_product);
    return 0;
}
