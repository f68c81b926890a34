// SPDX-License-Identifier: MIT
//
// Black-Scholes prices of European options, in float and in double from one template,
// with a structure of arrays and a grid-stride loop. Besides the CPU reference the
// put-call parity is checked.
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

template <typename Real>
struct Options {  // pointers to `count` values each
    const Real *spot, *strike, *years;
    Real *call, *put;
    int count;
};

template <typename Real>
struct Market {
    Real rate, volatility;
};

__device__ inline float normal_cdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
__device__ inline double normal_cdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }

template <typename Real>
__global__ void black_scholes(Options<Real> options, Market<Real> market) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < options.count;
         i += gridDim.x * blockDim.x) {
        const Real spot = options.spot[i], strike = options.strike[i], years = options.years[i];
        const Real sigma_sqrt_t = market.volatility * sqrt(years);
        const Real drift = market.rate + market.volatility * market.volatility / 2;
        const Real d1 = (log(spot / strike) + drift * years) / sigma_sqrt_t;
        const Real d2 = d1 - sigma_sqrt_t;
        const Real discounted = strike * exp(-market.rate * years);
        options.call[i] = spot * normal_cdf(d1) - discounted * normal_cdf(d2);
        options.put[i] = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1);
    }
}

template <typename Real>
static Real *upload(const std::vector<double> &host) {
    const std::vector<Real> converted(host.begin(), host.end());
    Real *device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, converted.size() * sizeof(Real)));
    CUDA_CHECK(cudaMemcpy(device, converted.data(), converted.size() * sizeof(Real),
                          cudaMemcpyHostToDevice));
    return device;
}

template <typename Real>
static bool check(const char *name, const std::vector<double> &spot,
                  const std::vector<double> &strike, const std::vector<double> &years,
                  double tolerance) {
    const int count = static_cast<int>(spot.size());
    const double rate = 0.03, volatility = 0.25;

    Real *d_spot = upload<Real>(spot), *d_strike = upload<Real>(strike);
    Real *d_years = upload<Real>(years), *d_call = nullptr, *d_put = nullptr;
    CUDA_CHECK(cudaMalloc(&d_call, count * sizeof(Real)));
    CUDA_CHECK(cudaMalloc(&d_put, count * sizeof(Real)));

    const Options<Real> options = {d_spot, d_strike, d_years, d_call, d_put, count};
    const Market<Real> market = {static_cast<Real>(rate), static_cast<Real>(volatility)};
    black_scholes<<<13, 96>>>(options, market);
    CUDA_CHECK(cudaGetLastError());

    std::vector<Real> call(count), put(count);
    CUDA_CHECK(cudaMemcpy(call.data(), d_call, count * sizeof(Real), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(put.data(), d_put, count * sizeof(Real), cudaMemcpyDeviceToHost));
    for (Real *pointer : {d_spot, d_strike, d_years, d_call, d_put}) {
        CUDA_CHECK(cudaFree(pointer));
    }

    double calls = 0.0, puts = 0.0;
    for (int i = 0; i < count; ++i) {
        const double width = volatility * std::sqrt(years[i]);
        const double d1 =
            (std::log(spot[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) /
            width;
        const double discounted = strike[i] * std::exp(-rate * years[i]);
        const double expected = spot[i] * 0.5 * std::erfc(-d1 / std::sqrt(2.0)) -
                                discounted * 0.5 * std::erfc((width - d1) / std::sqrt(2.0));
        if (!(std::fabs(call[i] - expected) <= tolerance)) {
            std::printf("%s: call %d costs %.9f, expected %.9f\n", name, i,
                        static_cast<double>(call[i]), expected);
            return false;
        }
        const double parity = spot[i] - discounted;
        if (!(std::fabs(call[i] - put[i] - parity) <= tolerance)) {
            std::printf("%s: call - put of %d is %.9f, expected %.9f\n", name, i,
                        static_cast<double>(call[i] - put[i]), parity);
            return false;
        }
        calls += call[i];
        puts += put[i];
    }
    std::printf("%-6s mean call %.4f, mean put %.4f\n", name, calls / count, puts / count);
    return true;
}

int main() {
    const int count = 5003;
    std::vector<double> spot(count), strike(count), years(count);
    for (int i = 0; i < count; ++i) {  // every value is exact in float as well
        spot[i] = 50.0 + i % 100;
        strike[i] = 60.0 + (i * 7) % 80;
        years[i] = 0.25 + (i % 32) / 16.0;
    }
    // Absolute tolerances, for prices up to about 100.
    if (!check<float>("float", spot, strike, years, 1e-3)) return 1;
    if (!check<double>("double", spot, strike, years, 1e-10)) return 1;
    std::printf("PASS\n");
    return 0;
}
