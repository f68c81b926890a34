// SPDX-License-Identifier: MIT
//
// Escape times of the Mandelbrot set on a two-dimensional grid. Escape times amplify
// rounding, so every operation is an explicit fma() or exact: GPU and CPU then agree
// to the last iteration, whatever a compiler would like to contract.
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

struct View {
    int width, height, max_iterations;
    double left, top, step;
};

__host__ __device__ inline int escape_time(const View &view, int column, int row) {
    const double cx = fma(static_cast<double>(column), view.step, view.left);
    const double cy = fma(static_cast<double>(row), -view.step, view.top);
    double x = 0.0, y = 0.0;
    int iteration = 0;
    while (iteration < view.max_iterations && fma(x, x, y * y) <= 4.0) {
        const double next_x = fma(x, x, fma(-y, y, cx));
        y = fma(2.0 * x, y, cy);
        x = next_x;
        ++iteration;
    }
    return iteration;
}

__global__ void mandelbrot(View view, unsigned short *iterations) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < view.width && row < view.height) {
        iterations[row * view.width + column] =
            static_cast<unsigned short>(escape_time(view, column, row));
    }
}

static void print_picture(const View &view, const std::vector<unsigned short> &iterations) {
    const char shades[] = " .:-=+*#%@";
    for (int row = 0; row < view.height; row += 6) {
        for (int column = 0; column < view.width; column += 3) {
            const int n = iterations[row * view.width + column];
            std::putchar(n == view.max_iterations ? '@' : shades[n < 18 ? n / 2 : 8]);
        }
        std::putchar('\n');
    }
}

int main() {
    const View view = {150, 101, 200, -2.1, 1.25, 0.02};
    const size_t pixels = static_cast<size_t>(view.width) * view.height;

    unsigned short *d_iterations = nullptr;
    CUDA_CHECK(cudaMalloc(&d_iterations, pixels * sizeof(unsigned short)));
    const dim3 block(16, 8);
    const dim3 grid((view.width + block.x - 1) / block.x, (view.height + block.y - 1) / block.y);
    mandelbrot<<<grid, block>>>(view, d_iterations);
    CUDA_CHECK(cudaGetLastError());

    std::vector<unsigned short> iterations(pixels);
    CUDA_CHECK(cudaMemcpy(iterations.data(), d_iterations, pixels * sizeof(unsigned short),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_iterations));

    long total = 0;
    int inside = 0;
    for (int row = 0; row < view.height; ++row) {
        for (int column = 0; column < view.width; ++column) {  // exact
            const int value = iterations[row * view.width + column];
            const int expected = escape_time(view, column, row);
            if (value != expected) {
                std::printf("pixel (%d, %d): %d iterations, expected %d\n", column, row, value,
                            expected);
                return 1;
            }
            total += value;
            inside += value == view.max_iterations;
        }
    }
    print_picture(view, iterations);
    std::printf("%d pixels inside, %ld iterations in all\nPASS\n", inside, total);
    return 0;
}
