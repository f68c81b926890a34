// SPDX-License-Identifier: MIT
//
// Explicit time stepping of the heat equation on a three-dimensional grid with a
// seven-point stencil and fixed borders. The grid is described by a struct passed
// by value; two buffers are swapped between steps.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

struct Grid {
    int nx, ny, nz;
    float alpha_dt;        // diffusivity times time step
    float inv_dx2[3];      // 1 / spacing^2 along x, y, z

    __host__ __device__ int index(int x, int y, int z) const { return (z * ny + y) * nx + x; }
    __host__ __device__ bool is_border(int x, int y, int z) const {
        return x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
    }
    __host__ __device__ int cells() const { return nx * ny * nz; }
};

__global__ void heat_step(Grid grid, const float *__restrict__ current,
                          float *__restrict__ next) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= grid.nx || y >= grid.ny || z >= grid.nz) return;

    const int i = grid.index(x, y, z);
    const float center = current[i];
    if (grid.is_border(x, y, z)) {
        next[i] = center;
        return;
    }
    const int dy = grid.nx, dz = grid.nx * grid.ny;
    const float laplacian =
        (current[i - 1] - 2.0f * center + current[i + 1]) * grid.inv_dx2[0] +
        (current[i - dy] - 2.0f * center + current[i + dy]) * grid.inv_dx2[1] +
        (current[i - dz] - 2.0f * center + current[i + dz]) * grid.inv_dx2[2];
    next[i] = center + grid.alpha_dt * laplacian;
}

static void heat_step_reference(const Grid &grid, const std::vector<double> &current,
                                std::vector<double> &next) {
    next = current;
    for (int z = 1; z < grid.nz - 1; ++z) {
        for (int y = 1; y < grid.ny - 1; ++y) {
            for (int x = 1; x < grid.nx - 1; ++x) {
                const double center = current[grid.index(x, y, z)];
                double laplacian = 0.0;
                laplacian += (current[grid.index(x - 1, y, z)] - 2.0 * center +
                              current[grid.index(x + 1, y, z)]) * grid.inv_dx2[0];
                laplacian += (current[grid.index(x, y - 1, z)] - 2.0 * center +
                              current[grid.index(x, y + 1, z)]) * grid.inv_dx2[1];
                laplacian += (current[grid.index(x, y, z - 1)] - 2.0 * center +
                              current[grid.index(x, y, z + 1)]) * grid.inv_dx2[2];
                next[grid.index(x, y, z)] = center + grid.alpha_dt * laplacian;
            }
        }
    }
}

int main() {
    const Grid grid = {37, 26, 19, 0.05f, {1.0f, 2.25f, 1.5625f}};
    const int steps = 30;
    const float tolerance = 1e-4f;  // absolute; temperatures lie in [0, 1]

    // A hot plate at z = 0 and a warm lump inside.
    std::vector<float> temperature(grid.cells(), 0.0f);
    for (int y = 0; y < grid.ny; ++y) {
        for (int x = 0; x < grid.nx; ++x) temperature[grid.index(x, y, 0)] = 1.0f;
    }
    for (int z = 8; z < 12; ++z) {
        for (int y = 9; y < 15; ++y) {
            for (int x = 12; x < 22; ++x) temperature[grid.index(x, y, z)] = 0.75f;
        }
    }
    std::vector<double> reference(temperature.begin(), temperature.end()), scratch;

    const size_t bytes = temperature.size() * sizeof(float);
    float *d_current = nullptr, *d_next = nullptr;
    CUDA_CHECK(cudaMalloc(&d_current, bytes));
    CUDA_CHECK(cudaMalloc(&d_next, bytes));
    CUDA_CHECK(cudaMemcpy(d_current, temperature.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 block(16, 4, 4);
    const dim3 blocks((grid.nx + block.x - 1) / block.x, (grid.ny + block.y - 1) / block.y,
                      (grid.nz + block.z - 1) / block.z);
    for (int step = 0; step < steps; ++step) {
        heat_step<<<blocks, block>>>(grid, d_current, d_next);
        CUDA_CHECK(cudaGetLastError());
        std::swap(d_current, d_next);
        heat_step_reference(grid, reference, scratch);
        reference.swap(scratch);
    }
    CUDA_CHECK(cudaMemcpy(temperature.data(), d_current, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_current));
    CUDA_CHECK(cudaFree(d_next));

    double total = 0.0;
    for (int i = 0; i < grid.cells(); ++i) {
        if (!(std::fabs(temperature[i] - reference[i]) <= tolerance)) {
            std::printf("cell %d: %f, expected %f\n", i, temperature[i], reference[i]);
            return 1;
        }
        total += temperature[i];
    }
    std::printf("after %d steps: total heat %.2f, centre %.4f\nPASS\n", steps, total,
                temperature[grid.index(grid.nx / 2, grid.ny / 2, grid.nz / 2)]);
    return 0;
}
