// SPDX-License-Identifier: MIT
//
// PageRank by power iteration in double precision. Every vertex pulls from its
// in-neighbours (CSR of the reversed graph); the rank held by vertices without
// out-links is collected with a block reduction and atomicAdd on double.
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
constexpr double DAMPING = 0.85;

// share[v] = rank[v] / out_degree[v]; *dangling += ranks of the vertices without out-links.
__global__ void compute_shares(const double *rank, const int *out_degree, double *share,
                               double *dangling, int n) {
    __shared__ double s_dangling[BLOCK];
    const int v = blockIdx.x * BLOCK + threadIdx.x;
    double lost = 0.0;
    if (v < n) {
        const int degree = out_degree[v];
        share[v] = degree > 0 ? rank[v] / degree : 0.0;
        if (degree == 0) lost = rank[v];
    }
    s_dangling[threadIdx.x] = lost;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) s_dangling[threadIdx.x] += s_dangling[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0 && s_dangling[0] != 0.0) atomicAdd(dangling, s_dangling[0]);
}

__global__ void pull_ranks(const int *in_offsets, const int *in_neighbours, const double *share,
                           const double *dangling, double *rank, int n) {
    const int v = blockIdx.x * BLOCK + threadIdx.x;
    if (v >= n) return;
    double sum = 0.0;
    for (int e = in_offsets[v]; e < in_offsets[v + 1]; ++e) {
        sum += share[in_neighbours[e]];
    }
    rank[v] = (1.0 - DAMPING) / n + DAMPING * (sum + *dangling / n);
}

int main() {
    const int n = 3001, iterations = 25;
    const double tolerance = 1e-12;  // absolute; the ranks add up to 1

    // Few vertices are popular; every 13th vertex has no out-links.
    std::vector<std::vector<int>> incoming(n);
    std::vector<int> out_degree(n, 0);
    unsigned state = 17u;
    for (int v = 0; v < n; ++v) {
        if (v % 13 == 5) continue;
        for (int link = 0; link <= v % 6; ++link) {
            state = state * 1664525u + 1013904223u;
            const double u = static_cast<double>(state >> 8) / 16777216.0;
            incoming[static_cast<int>(u * u * u * n)].push_back(v);
            ++out_degree[v];
        }
    }
    std::vector<int> in_offsets(1, 0), in_neighbours;
    for (const std::vector<int> &list : incoming) {
        in_neighbours.insert(in_neighbours.end(), list.begin(), list.end());
        in_offsets.push_back(static_cast<int>(in_neighbours.size()));
    }

    std::vector<double> rank(n, 1.0 / n);
    int *d_in_offsets = nullptr, *d_in_neighbours = nullptr, *d_out_degree = nullptr;
    double *d_rank = nullptr, *d_share = nullptr, *d_dangling = nullptr;
    CUDA_CHECK(cudaMalloc(&d_in_offsets, in_offsets.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_in_neighbours, in_neighbours.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_out_degree, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_rank, n * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&d_share, n * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&d_dangling, sizeof(double)));
    CUDA_CHECK(cudaMemcpy(d_in_offsets, in_offsets.data(), in_offsets.size() * sizeof(int),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_in_neighbours, in_neighbours.data(),
                          in_neighbours.size() * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_out_degree, out_degree.data(), n * sizeof(int),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_rank, rank.data(), n * sizeof(double), cudaMemcpyHostToDevice));

    const int blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<double> expected(rank), share(n), result(n);
    for (int iteration = 0; iteration < iterations; ++iteration) {
        CUDA_CHECK(cudaMemset(d_dangling, 0, sizeof(double)));
        compute_shares<<<blocks, BLOCK>>>(d_rank, d_out_degree, d_share, d_dangling, n);
        pull_ranks<<<blocks, BLOCK>>>(d_in_offsets, d_in_neighbours, d_share, d_dangling, d_rank,
                                      n);
        CUDA_CHECK(cudaGetLastError());

        double dangling = 0.0;
        for (int v = 0; v < n; ++v) {
            share[v] = out_degree[v] > 0 ? expected[v] / out_degree[v] : 0.0;
            if (out_degree[v] == 0) dangling += expected[v];
        }
        for (int v = 0; v < n; ++v) {
            double sum = 0.0;
            for (int w : incoming[v]) sum += share[w];
            expected[v] = (1.0 - DAMPING) / n + DAMPING * (sum + dangling / n);
        }
    }
    CUDA_CHECK(cudaMemcpy(result.data(), d_rank, n * sizeof(double), cudaMemcpyDeviceToHost));
    for (int *pointer : {d_in_offsets, d_in_neighbours, d_out_degree}) {
        CUDA_CHECK(cudaFree(pointer));
    }
    for (double *pointer : {d_rank, d_share, d_dangling}) CUDA_CHECK(cudaFree(pointer));

    int best = 0;
    double total = 0.0;
    for (int v = 0; v < n; ++v) {
        if (!(std::fabs(result[v] - expected[v]) <= tolerance)) {
            std::printf("vertex %d has rank %.15f, expected %.15f\n", v, result[v], expected[v]);
            return 1;
        }
        if (result[v] > result[best]) best = v;
        total += result[v];
    }
    std::printf("%d vertices, %zu links: total rank %.6f, best vertex %d with %.6f\nPASS\n", n,
                in_neighbours.size(), total, best, result[best]);
    return 0;
}
