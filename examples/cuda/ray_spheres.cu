// SPDX-License-Identifier: MIT
//
// Ray casting of spheres with diffuse shading. The camera is a struct passed by value,
// the scene is an array of structs in __constant__ memory, and the intersection code
// is shared by host and device.
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

constexpr int SPHERES = 9;

struct Vec3 {
    float x, y, z;
};
__host__ __device__ inline Vec3 operator+(Vec3 a, Vec3 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__host__ __device__ inline Vec3 operator-(Vec3 a, Vec3 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__host__ __device__ inline Vec3 operator*(float s, Vec3 v) { return {s * v.x, s * v.y, s * v.z}; }
__host__ __device__ inline float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ inline Vec3 normalize(Vec3 v) { return (1.0f / sqrtf(dot(v, v))) * v; }

struct Sphere {
    Vec3 center;
    float radius;
    float albedo;
};

struct Camera {
    Vec3 position, forward, right, up;
    int width, height;

    __host__ __device__ Vec3 ray(int column, int row) const {
        const float u = (2.0f * (column + 0.5f) - width) / height;
        const float v = (height - 2.0f * (row + 0.5f)) / height;
        return normalize(forward + u * right + v * up);
    }
};

// Brightness of the nearest sphere along the ray, or -1 if the ray hits none.
__host__ __device__ inline float trace(const Sphere *spheres, Vec3 origin, Vec3 direction,
                                       Vec3 light) {
    float nearest = INFINITY;
    int hit = -1;
    for (int i = 0; i < SPHERES; ++i) {
        const Vec3 to_center = spheres[i].center - origin;
        const float along = dot(to_center, direction);
        const Vec3 off_axis = to_center - along * direction;
        const float inside = spheres[i].radius * spheres[i].radius - dot(off_axis, off_axis);
        if (inside < 0.0f) continue;
        const float distance = along - sqrtf(inside);
        if (distance > 0.0f && distance < nearest) {
            nearest = distance;
            hit = i;
        }
    }
    if (hit < 0) return -1.0f;
    const Vec3 point = origin + nearest * direction;
    const Vec3 normal = (1.0f / spheres[hit].radius) * (point - spheres[hit].center);
    return spheres[hit].albedo * (0.1f + 0.9f * fmaxf(0.0f, dot(normal, light)));
}

__constant__ Sphere c_spheres[SPHERES];

__global__ void render(Camera camera, Vec3 light, float *image) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= camera.width || row >= camera.height) return;
    image[row * camera.width + column] =
        trace(c_spheres, camera.position, camera.ray(column, row), light);
}

int main() {
    const Camera camera = {
        {0.0f, 0.5f, -4.0f}, {0.0f, -0.1f, 1.5f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, 203, 150};
    const Vec3 light = normalize({0.5f, 1.0f, -0.7f});
    const float tolerance = 1e-3f;  // absolute brightness; values lie in [-1, 1]
    const int allowed_outliers = 4;  // pixels whose ray grazes a silhouette

    Sphere spheres[SPHERES];
    for (int i = 0; i < SPHERES; ++i) {
        const float angle = 0.7f * static_cast<float>(i);
        spheres[i].center = {1.6f * std::cos(angle), 0.3f * static_cast<float>(i % 3) - 0.3f,
                             1.6f * std::sin(angle)};
        spheres[i].radius = 0.35f + 0.06f * static_cast<float>(i % 4);
        spheres[i].albedo = 0.4f + 0.07f * static_cast<float>(i);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(c_spheres, spheres, sizeof(spheres)));

    const size_t bytes = sizeof(float) * camera.width * camera.height;
    float *d_image = nullptr;
    CUDA_CHECK(cudaMalloc(&d_image, bytes));
    const dim3 block(8, 8);
    const dim3 grid((camera.width + 7) / 8, (camera.height + 7) / 8);
    render<<<grid, block>>>(camera, light, d_image);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> image(camera.width * camera.height);
    CUDA_CHECK(cudaMemcpy(image.data(), d_image, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_image));

    int outliers = 0, hits = 0;
    double brightness = 0.0;
    for (int row = 0; row < camera.height; ++row) {
        for (int column = 0; column < camera.width; ++column) {
            const float value = image[row * camera.width + column];
            const float expected =
                trace(spheres, camera.position, camera.ray(column, row), light);
            if (!(std::fabs(value - expected) <= tolerance) && ++outliers > allowed_outliers) {
                std::printf("pixel (%d, %d): %f, expected %f\n", column, row, value, expected);
                return 1;
            }
            if (value >= 0.0f) {
                ++hits;
                brightness += value;
            }
        }
    }
    std::printf("%d spheres, %.1f %% of the pixels hit, mean brightness %.3f\nPASS\n", SPHERES,
                100.0 * hits / (camera.width * camera.height), brightness / hits);
    return 0;
}
