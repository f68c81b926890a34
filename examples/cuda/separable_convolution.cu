// SPDX-License-Identifier: MIT
//
// Gaussian blur of a float image as two one-dimensional passes. The filter taps are
// in __constant__ memory; the row pass stages its pixels and an apron in shared
// memory, the column pass reads global memory. Borders are clamped.
#include <cuda_runtime.h>

#include <algorithm>
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

constexpr int RADIUS = 5;
constexpr int TAPS = 2 * RADIUS + 1;
constexpr int BLOCK_X = 64;
constexpr int BLOCK_Y = 4;

__constant__ float c_filter[TAPS];

__device__ __forceinline__ int clamp_index(int i, int size) {
    return min(max(i, 0), size - 1);
}

__global__ void convolve_rows(const float *src, float *dst, int width, int height) {
    __shared__ float s_row[BLOCK_Y][BLOCK_X + 2 * RADIUS];
    const int x0 = blockIdx.x * BLOCK_X;
    const int x = x0 + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int source_row = clamp_index(y, height) * width;

    for (int i = threadIdx.x; i < BLOCK_X + 2 * RADIUS; i += BLOCK_X) {
        s_row[threadIdx.y][i] = src[source_row + clamp_index(x0 + i - RADIUS, width)];
    }
    __syncthreads();

    if (x < width && y < height) {
        float sum = 0.0f;
#pragma unroll
        for (int tap = 0; tap < TAPS; ++tap) {
            sum += c_filter[tap] * s_row[threadIdx.y][threadIdx.x + tap];
        }
        dst[y * width + x] = sum;
    }
}

__global__ void convolve_columns(const float *src, float *dst, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    float sum = 0.0f;
#pragma unroll
    for (int tap = -RADIUS; tap <= RADIUS; ++tap) {
        sum += c_filter[tap + RADIUS] * src[clamp_index(y + tap, height) * width + x];
    }
    dst[y * width + x] = sum;
}

// Two-dimensional convolution with the outer product of the taps, in double.
static double blur_reference(const std::vector<float> &image, const std::vector<float> &taps,
                             int width, int height, int x, int y) {
    double sum = 0.0;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
        const int yy = std::min(std::max(y + dy, 0), height - 1);
        for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
            const int xx = std::min(std::max(x + dx, 0), width - 1);
            sum += static_cast<double>(taps[dy + RADIUS]) * taps[dx + RADIUS] *
                   image[yy * width + xx];
        }
    }
    return sum;
}

int main() {
    const int width = 157, height = 103;
    const float tolerance = 1e-4f;  // absolute; pixels lie in [0, 10]
    const size_t bytes = sizeof(float) * width * height;

    std::vector<float> taps(TAPS);
    float total = 0.0f;
    for (int i = 0; i < TAPS; ++i) {
        const float d = static_cast<float>(i - RADIUS);
        taps[i] = std::exp(-d * d / 8.0f);
        total += taps[i];
    }
    for (float &tap : taps) tap /= total;
    CUDA_CHECK(cudaMemcpyToSymbol(c_filter, taps.data(), TAPS * sizeof(float)));

    std::vector<float> image(width * height), blurred(width * height);
    for (int i = 0; i < width * height; ++i) {
        image[i] = static_cast<float>((i * 7919) % 1000) / 100.0f;
    }

    float *d_image = nullptr, *d_rows = nullptr, *d_blurred = nullptr;
    CUDA_CHECK(cudaMalloc(&d_image, bytes));
    CUDA_CHECK(cudaMalloc(&d_rows, bytes));
    CUDA_CHECK(cudaMalloc(&d_blurred, bytes));
    CUDA_CHECK(cudaMemcpy(d_image, image.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    convolve_rows<<<grid, block>>>(d_image, d_rows, width, height);
    CUDA_CHECK(cudaGetLastError());
    convolve_columns<<<grid, block>>>(d_rows, d_blurred, width, height);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(blurred.data(), d_blurred, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_image));
    CUDA_CHECK(cudaFree(d_rows));
    CUDA_CHECK(cudaFree(d_blurred));

    double mean = 0.0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const double expected = blur_reference(image, taps, width, height, x, y);
            const float pixel = blurred[y * width + x];
            if (!(std::fabs(pixel - expected) <= tolerance)) {
                std::printf("pixel (%d, %d) is %f, expected %f\n", x, y, pixel, expected);
                return 1;
            }
            mean += pixel;
        }
    }
    mean /= width * height;
    std::printf("%dx%d image, mean after blur %.4f\nPASS\n", width, height, mean);
    return 0;
}
