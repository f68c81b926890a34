// SPDX-License-Identifier: MIT
//
// Batched complex FFT (radix 2, decimation in time), one transform for each block.
// The signal is put in bit-reversed order with __brev while it is loaded into dynamic
// shared memory; the inverse transform uses the same kernel with the other sign.
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
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

__device__ __forceinline__ float2 complex_mul(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// One block of n / 2 threads transforms n = 2^log2n points in place.
__global__ void fft(float2 *signals, int log2n, float direction) {
    extern __shared__ float2 s_data[];
    const int n = 1 << log2n;
    float2 *signal = signals + static_cast<size_t>(blockIdx.x) * n;

    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        s_data[__brev(i) >> (32 - log2n)] = signal[i];
    }
    __syncthreads();

    for (int half = 1; half < n; half *= 2) {
        const int position = threadIdx.x % half;
        const int low = 2 * (threadIdx.x - position) + position;
        float2 twiddle;
        sincospif(direction * static_cast<float>(position) / static_cast<float>(half),
                  &twiddle.y, &twiddle.x);
        const float2 a = s_data[low];
        const float2 b = complex_mul(twiddle, s_data[low + half]);
        s_data[low] = make_float2(a.x + b.x, a.y + b.y);
        s_data[low + half] = make_float2(a.x - b.x, a.y - b.y);
        __syncthreads();
    }

    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        signal[i] = s_data[i];
    }
}

static std::vector<std::complex<double>> dft_reference(const float2 *signal, int n) {
    std::vector<std::complex<double>> roots(n), spectrum(n);
    for (int i = 0; i < n; ++i) roots[i] = std::polar(1.0, -2.0 * M_PI * i / n);
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
            spectrum[k] += std::complex<double>(signal[i].x, signal[i].y) * roots[i * k % n];
        }
    }
    return spectrum;
}

static bool check(int log2n, int batch) {
    const int n = 1 << log2n;
    const double tolerance = 1e-5 * n;  // absolute; amplitudes are at most 2
    const size_t count = static_cast<size_t>(n) * batch, bytes = count * sizeof(float2);

    std::vector<float2> signals(count), spectra(count), restored(count);
    for (size_t i = 0; i < count; ++i) {
        const float t = static_cast<float>(i);
        signals[i].x = std::sin(0.2f * t) + 0.5f * std::cos(1.3f * t);
        signals[i].y = static_cast<float>(i % 5) / 5.0f;
    }

    float2 *d_signals = nullptr;
    CUDA_CHECK(cudaMalloc(&d_signals, bytes));
    CUDA_CHECK(cudaMemcpy(d_signals, signals.data(), bytes, cudaMemcpyHostToDevice));
    fft<<<batch, n / 2, n * sizeof(float2)>>>(d_signals, log2n, -1.0f);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(spectra.data(), d_signals, bytes, cudaMemcpyDeviceToHost));
    fft<<<batch, n / 2, n * sizeof(float2)>>>(d_signals, log2n, 1.0f);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(restored.data(), d_signals, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_signals));

    double magnitudes = 0.0;
    for (int signal = 0; signal < batch; ++signal) {
        const size_t base = static_cast<size_t>(signal) * n;
        const std::vector<std::complex<double>> expected = dft_reference(&signals[base], n);
        for (int k = 0; k < n; ++k) {
            const std::complex<double> value(spectra[base + k].x, spectra[base + k].y);
            if (!(std::abs(value - expected[k]) <= tolerance)) {
                std::printf("n = %d, signal %d, bin %d: (%f, %f), expected (%f, %f)\n", n, signal,
                            k, value.real(), value.imag(), expected[k].real(),
                            expected[k].imag());
                return false;
            }
            magnitudes += std::abs(value);
            const float2 back = restored[base + k];
            if (!(std::fabs(back.x / n - signals[base + k].x) <= tolerance &&
                  std::fabs(back.y / n - signals[base + k].y) <= tolerance)) {
                std::printf("n = %d, signal %d: sample %d is not restored\n", n, signal, k);
                return false;
            }
        }
    }
    std::printf("%d transforms of %3d points: sum of magnitudes %.1f\n", batch, n, magnitudes);
    return true;
}

int main() {
    if (!check(4, 3) || !check(7, 9) || !check(9, 5)) return 1;
    std::printf("PASS\n");
    return 0;
}
