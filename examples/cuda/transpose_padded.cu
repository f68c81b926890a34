// SPDX-License-Identifier: MIT
//
// Matrix transpose through a shared tile with one column of padding, which keeps
// the column-wise reads free of bank conflicts. Each 32x8 block moves a 32x32 tile.
// One kernel template serves float, double and a 3-component struct.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(expr)                                                                   \
    do {                                                                                   \
        const cudaError_t error_ = (expr);                                                 \
        if (error_ != cudaSuccess) {                                                       \
            std::fprintf(stderr, "%s failed: %s\n", #expr, cudaGetErrorString(error_));    \
            std::exit(EXIT_FAILURE);                                                       \
        }                                                                                  \
    } while (0)

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

struct Rgb {
    unsigned char r, g, b;
};

template <typename T>
__global__ void transpose(const T *in, T *out, int width, int height) {
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < width && y + j < height) {
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
        }
    }
    __syncthreads();

    // The block that read tile (bx, by) writes tile (by, bx).
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < height && y + j < width) {
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}

static void fill(float &value, int i) { value = 0.5f * static_cast<float>(i % 4099); }
static void fill(double &value, int i) { value = 1.0 / (1.0 + i); }
static void fill(Rgb &value, int i) {
    value.r = static_cast<unsigned char>(i);
    value.g = static_cast<unsigned char>(i / 3);
    value.b = static_cast<unsigned char>(i / 7);
}

static bool equal(float a, float b) { return a == b; }
static bool equal(double a, double b) { return a == b; }
static bool equal(const Rgb &a, const Rgb &b) { return a.r == b.r && a.g == b.g && a.b == b.b; }

template <typename T>
static bool check(const char *name, int width, int height) {
    const size_t count = static_cast<size_t>(width) * height;
    std::vector<T> in(count), out(count);
    for (size_t i = 0; i < count; ++i) fill(in[i], static_cast<int>(i));

    T *d_in = nullptr, *d_out = nullptr;
    CUDA_CHECK(cudaMalloc(&d_in, count * sizeof(T)));
    CUDA_CHECK(cudaMalloc(&d_out, count * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), count * sizeof(T), cudaMemcpyHostToDevice));

    const dim3 block(TILE_DIM, BLOCK_ROWS);
    const dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transpose<T><<<grid, block>>>(d_in, d_out, width, height);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, count * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));

    // A copy must be exact: the tolerance is zero.
    for (int row = 0; row < width; ++row) {
        for (int col = 0; col < height; ++col) {
            if (!equal(out[row * height + col], in[col * width + row])) {
                std::printf("%s: mismatch at row %d, column %d\n", name, row, col);
                return false;
            }
        }
    }
    std::printf("%s: %d x %d transposed\n", name, height, width);
    return true;
}

int main() {
    if (!check<float>("float", 250, 131)) return 1;
    if (!check<double>("double", 97, 160)) return 1;
    if (!check<Rgb>("rgb", 333, 45)) return 1;
    std::printf("PASS\n");
    return 0;
}
