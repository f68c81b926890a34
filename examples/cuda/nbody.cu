// SPDX-License-Identifier: MIT
//
// All-pairs gravitational n-body simulation. Blocks stage tiles of bodies (float4:
// position and mass) in shared memory, rsqrtf gives the inverse distance, and a
// semi-implicit Euler step moves the bodies.
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
constexpr float SOFTENING2 = 0.05f;

__device__ float3 accumulate(float3 acc, float4 self, float4 other) {
    const float dx = other.x - self.x;
    const float dy = other.y - self.y;
    const float dz = other.z - self.z;
    const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING2);
    const float s = other.w * inv * inv * inv;
    acc.x += s * dx;
    acc.y += s * dy;
    acc.z += s * dz;
    return acc;
}

// Reads positions and writes new ones elsewhere: no block sees another's progress.
__global__ void nbody_step(const float4 *bodies, float4 *bodies_out, float4 *velocities, int n,
                           float dt) {
    __shared__ float4 tile[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const float4 self = i < n ? bodies[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 acc = make_float3(0.0f, 0.0f, 0.0f);

    for (int start = 0; start < n; start += BLOCK) {
        const int j = start + threadIdx.x;
        // Bodies past the end have no mass and so exert no force.
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < BLOCK; ++k) {
            acc = accumulate(acc, self, tile[k]);
        }
        __syncthreads();
    }

    if (i < n) {
        float4 v = velocities[i];
        v.x += dt * acc.x;
        v.y += dt * acc.y;
        v.z += dt * acc.z;
        velocities[i] = v;
        bodies_out[i] =
            make_float4(self.x + dt * v.x, self.y + dt * v.y, self.z + dt * v.z, self.w);
    }
}

struct Body {
    double x[3], v[3], mass;
};

static void step_reference(std::vector<Body> &bodies, double dt) {
    for (Body &self : bodies) {
        double acc[3] = {0.0, 0.0, 0.0};
        for (const Body &other : bodies) {
            double d[3], r2 = SOFTENING2;
            for (int c = 0; c < 3; ++c) {
                d[c] = other.x[c] - self.x[c];
                r2 += d[c] * d[c];
            }
            const double s = other.mass / (r2 * std::sqrt(r2));
            for (int c = 0; c < 3; ++c) acc[c] += s * d[c];
        }
        for (int c = 0; c < 3; ++c) self.v[c] += dt * acc[c];
    }
    for (Body &body : bodies) {
        for (int c = 0; c < 3; ++c) body.x[c] += dt * body.v[c];
    }
}

int main() {
    const int n = 300, steps = 5;
    const float dt = 0.01f;
    const double tolerance = 1e-4;  // absolute, for coordinates of order one

    std::vector<float4> bodies(n), velocities(n, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
    std::vector<Body> reference(n);
    for (int i = 0; i < n; ++i) {
        const float radius = 0.5f + static_cast<float>(i % 17) / 16.0f;
        const float angle = 0.37f * static_cast<float>(i);
        bodies[i] = make_float4(radius * std::cos(angle), radius * std::sin(angle),
                                static_cast<float>(i % 11) / 10.0f - 0.5f,
                                (1.0f + static_cast<float>(i % 3)) / n);
        velocities[i].x = -0.5f * bodies[i].y;
        velocities[i].y = 0.5f * bodies[i].x;
        reference[i] = {{bodies[i].x, bodies[i].y, bodies[i].z},
                        {velocities[i].x, velocities[i].y, velocities[i].z},
                        bodies[i].w};
    }

    const size_t bytes = n * sizeof(float4);
    float4 *d_bodies[2], *d_velocities = nullptr;
    CUDA_CHECK(cudaMalloc(&d_bodies[0], bytes));
    CUDA_CHECK(cudaMalloc(&d_bodies[1], bytes));
    CUDA_CHECK(cudaMalloc(&d_velocities, bytes));
    CUDA_CHECK(cudaMemcpy(d_bodies[0], bodies.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_velocities, velocities.data(), bytes, cudaMemcpyHostToDevice));

    const int blocks = (n + BLOCK - 1) / BLOCK;
    for (int step = 0; step < steps; ++step) {
        nbody_step<<<blocks, BLOCK>>>(d_bodies[step % 2], d_bodies[1 - step % 2], d_velocities, n,
                                      dt);
        CUDA_CHECK(cudaGetLastError());
        step_reference(reference, dt);
    }
    CUDA_CHECK(cudaMemcpy(bodies.data(), d_bodies[steps % 2], bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(velocities.data(), d_velocities, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_bodies[0]));
    CUDA_CHECK(cudaFree(d_bodies[1]));
    CUDA_CHECK(cudaFree(d_velocities));

    double kinetic = 0.0;
    for (int i = 0; i < n; ++i) {
        const float position[3] = {bodies[i].x, bodies[i].y, bodies[i].z};
        for (int c = 0; c < 3; ++c) {
            if (!(std::fabs(position[c] - reference[i].x[c]) <= tolerance)) {
                std::printf("body %d, axis %d: %f, expected %f\n", i, c, position[c],
                            reference[i].x[c]);
                return 1;
            }
        }
        const float4 v = velocities[i];
        kinetic += 0.5 * bodies[i].w * (v.x * v.x + v.y * v.y + v.z * v.z);
    }
    std::printf("%d bodies, %d steps, kinetic energy %.4f\nPASS\n", n, steps, kinetic);
    return 0;
}
