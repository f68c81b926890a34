// SPDX-License-Identifier: MIT
//
// k-means clustering of points with integer coordinates. Assignment and accumulation
// are one kernel with per-block sums in shared memory; because all sums are 64-bit
// integers, the order of the atomics does not matter and the result is exact.
#include <cuda_runtime.h>

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

constexpr int K = 6;
using Wide = unsigned long long;

struct Accumulator {
    Wide sum_x, sum_y, members;
};

// Ties go to the lower index.
__host__ __device__ inline int nearest(int2 point, const int2 *centroids) {
    int best = 0;
    long long best_distance = 0;
    for (int k = 0; k < K; ++k) {
        const long long dx = point.x - centroids[k].x;
        const long long dy = point.y - centroids[k].y;
        const long long distance = dx * dx + dy * dy;
        if (k == 0 || distance < best_distance) {
            best = k;
            best_distance = distance;
        }
    }
    return best;
}

__host__ __device__ inline int2 centre(const Accumulator &sums, int2 previous) {
    if (sums.members == 0) return previous;
    return make_int2(static_cast<int>(sums.sum_x / sums.members),
                     static_cast<int>(sums.sum_y / sums.members));
}

__global__ void assign_points(const int2 *points, int n, const int2 *centroids, int *labels,
                              Accumulator *sums, int *changed) {
    __shared__ int2 s_centroids[K];
    __shared__ Accumulator s_sums[K];
    if (threadIdx.x < K) {
        s_centroids[threadIdx.x] = centroids[threadIdx.x];
        s_sums[threadIdx.x] = Accumulator{0, 0, 0};
    }
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool moved = false;
    if (i < n) {
        const int2 point = points[i];
        const int label = nearest(point, s_centroids);
        moved = labels[i] != label;
        labels[i] = label;
        atomicAdd(&s_sums[label].sum_x, static_cast<Wide>(point.x));
        atomicAdd(&s_sums[label].sum_y, static_cast<Wide>(point.y));
        atomicAdd(&s_sums[label].members, Wide{1});
    }
    const int any_moved = __syncthreads_or(moved);

    if (threadIdx.x < K) {
        atomicAdd(&sums[threadIdx.x].sum_x, s_sums[threadIdx.x].sum_x);
        atomicAdd(&sums[threadIdx.x].sum_y, s_sums[threadIdx.x].sum_y);
        atomicAdd(&sums[threadIdx.x].members, s_sums[threadIdx.x].members);
    }
    if (threadIdx.x == 0 && any_moved) atomicExch(changed, 1);
}

__global__ void move_centroids(const Accumulator *sums, int2 *centroids) {
    if (threadIdx.x < K) {
        centroids[threadIdx.x] = centre(sums[threadIdx.x], centroids[threadIdx.x]);
    }
}

int main() {
    const int n = 6007, max_rounds = 40, block = 128;

    // Six clouds around known centres.
    std::vector<int2> points(n);
    unsigned state = 3u;
    for (int i = 0; i < n; ++i) {
        int noise[2] = {0, 0};
        for (int j = 0; j < 8; ++j) {
            state = state * 1664525u + 1013904223u;
            noise[j % 2] += static_cast<int>(state >> 20) - 2048;
        }
        points[i] = make_int2(20000 + (i % 3) * 15000 + noise[0],
                              20000 + (i % 2) * 18000 + noise[1]);
    }
    std::vector<int2> centroids(K);  // all from one cloud: a poor start, so several rounds
    for (int k = 0; k < K; ++k) centroids[k] = points[6 * k];
    std::vector<int2> expected(centroids);
    std::vector<int> labels(n, -1), expected_labels(n, -1);

    int2 *d_points = nullptr, *d_centroids = nullptr;
    int *d_labels = nullptr, *d_changed = nullptr;
    Accumulator *d_sums = nullptr;
    CUDA_CHECK(cudaMalloc(&d_points, n * sizeof(int2)));
    CUDA_CHECK(cudaMalloc(&d_centroids, K * sizeof(int2)));
    CUDA_CHECK(cudaMalloc(&d_labels, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_changed, sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_sums, K * sizeof(Accumulator)));
    CUDA_CHECK(cudaMemcpy(d_points, points.data(), n * sizeof(int2), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_centroids, centroids.data(), K * sizeof(int2),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_labels, 0xff, n * sizeof(int)));

    int rounds = 0;
    for (int changed = 1; changed && rounds < max_rounds; ++rounds) {
        CUDA_CHECK(cudaMemset(d_changed, 0, sizeof(int)));
        CUDA_CHECK(cudaMemset(d_sums, 0, K * sizeof(Accumulator)));
        assign_points<<<(n + block - 1) / block, block>>>(d_points, n, d_centroids, d_labels,
                                                          d_sums, d_changed);
        move_centroids<<<1, 32>>>(d_sums, d_centroids);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaMemcpy(centroids.data(), d_centroids, K * sizeof(int2),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(labels.data(), d_labels, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_points));
    CUDA_CHECK(cudaFree(d_centroids));
    CUDA_CHECK(cudaFree(d_labels));
    CUDA_CHECK(cudaFree(d_changed));
    CUDA_CHECK(cudaFree(d_sums));

    int expected_rounds = 0;
    for (bool changed = true; changed && expected_rounds < max_rounds; ++expected_rounds) {
        std::vector<Accumulator> sums(K, Accumulator{0, 0, 0});
        changed = false;
        for (int i = 0; i < n; ++i) {
            const int label = nearest(points[i], expected.data());
            changed = changed || label != expected_labels[i];
            expected_labels[i] = label;
            sums[label].sum_x += points[i].x;
            sums[label].sum_y += points[i].y;
            ++sums[label].members;
        }
        for (int k = 0; k < K; ++k) expected[k] = centre(sums[k], expected[k]);
    }

    for (int i = 0; i < n; ++i) {  // integers: exact
        if (labels[i] != expected_labels[i]) {
            std::printf("point %d has label %d, expected %d\n", i, labels[i], expected_labels[i]);
            return 1;
        }
    }
    std::printf("%d points, %d rounds\n", n, rounds);
    for (int k = 0; k < K; ++k) {
        if (centroids[k].x != expected[k].x || centroids[k].y != expected[k].y) {
            std::printf("centroid %d is (%d, %d), expected (%d, %d)\n", k, centroids[k].x,
                        centroids[k].y, expected[k].x, expected[k].y);
            return 1;
        }
        std::printf("centroid %d: (%d, %d)\n", k, centroids[k].x, centroids[k].y);
    }
    std::printf("PASS\n");
    return 0;
}
