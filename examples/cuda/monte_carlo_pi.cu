// SPDX-License-Identifier: MIT
//
// Monte Carlo estimate of pi with an own generator (PCG with 64-bit state, a stream
// for each thread). Points have integer coordinates, so the hit count is exact and
// can be compared with the CPU; warps add up with __shfl_xor_sync (warp size 32).
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

class Pcg32 {
public:
    __host__ __device__ Pcg32(uint64_t seed, uint64_t stream)
        : state_(0), increment_((stream << 1) | 1u) {
        next();
        state_ += seed;
        next();
    }

    __host__ __device__ uint32_t next() {
        const uint64_t old = state_;
        state_ = old * 6364136223846793005ull + increment_;
        const uint32_t xorshifted = static_cast<uint32_t>(((old >> 18) ^ old) >> 27);
        const uint32_t rotation = static_cast<uint32_t>(old >> 59);
        return (xorshifted >> rotation) | (xorshifted << ((32u - rotation) & 31u));
    }

private:
    uint64_t state_;
    uint64_t increment_;
};

__host__ __device__ inline unsigned count_hits(uint64_t seed, uint64_t stream, int samples) {
    Pcg32 rng(seed, stream);
    unsigned hits = 0;
    for (int i = 0; i < samples; ++i) {
        const uint64_t x = rng.next() >> 1;
        const uint64_t y = rng.next() >> 1;
        hits += (x * x + y * y) < (1ull << 62);
    }
    return hits;
}

__global__ void estimate_pi(uint64_t seed, int streams, int samples_per_stream,
                            unsigned long long *total_hits) {
    const int stream = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hits = stream < streams ? count_hits(seed, stream, samples_per_stream) : 0u;

    for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2) {
        hits += __shfl_xor_sync(0xffffffffu, hits, lane_mask);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total_hits, static_cast<unsigned long long>(hits));
    }
}

int main() {
    const uint64_t seed = 20240229;
    const int streams = 5000, samples_per_stream = 100, block = 128;

    unsigned long long hits = 0, expected = 0;
    unsigned long long *d_hits = nullptr;
    CUDA_CHECK(cudaMalloc(&d_hits, sizeof(hits)));
    CUDA_CHECK(cudaMemset(d_hits, 0, sizeof(hits)));
    estimate_pi<<<(streams + block - 1) / block, block>>>(seed, streams, samples_per_stream,
                                                         d_hits);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&hits, d_hits, sizeof(hits), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_hits));

    for (int stream = 0; stream < streams; ++stream) {
        expected += count_hits(seed, stream, samples_per_stream);
    }
    if (hits != expected) {  // integers: exact
        std::printf("%llu hits, expected %llu\n", hits, expected);
        return 1;
    }

    const double samples = static_cast<double>(streams) * samples_per_stream;
    const double pi = 4.0 * static_cast<double>(hits) / samples;
    if (std::fabs(pi - 3.14159265358979) > 0.01) {  // four standard errors
        std::printf("estimate %.5f is too far from pi\n", pi);
        return 1;
    }
    std::printf("%llu of %.0f points hit, pi is about %.4f\nPASS\n", hits, samples, pi);
    return 0;
}
