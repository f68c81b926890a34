// SPDX-License-Identifier: MIT
//
// FIR low-pass filter on 16-bit samples with Q15 taps. The signal passes through two
// streams in chunks, with asynchronous copies from and to pinned memory; events make
// the final level-meter kernel wait for both streams.
#include <cuda_runtime.h>

#include <algorithm>
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

constexpr int TAPS = 33;
constexpr int STREAMS = 2;

__constant__ int16_t c_taps[TAPS];

__host__ __device__ inline int16_t round_q15(int sum) {
    sum = (sum + (1 << 14)) >> 15;
    return static_cast<int16_t>(sum > 32767 ? 32767 : (sum < -32768 ? -32768 : sum));
}

// `in` starts TAPS - 1 samples before the chunk.
__global__ void fir(const int16_t *in, int16_t *out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int sum = 0;
    for (int tap = 0; tap < TAPS; ++tap) {
        sum += c_taps[tap] * in[i + TAPS - 1 - tap];
    }
    out[i] = round_q15(sum);
}

// Largest absolute sample, and the sum of the squares in 64 bits.
__global__ void level_meter(const int16_t *samples, int count, int *peak,
                            unsigned long long *energy) {
    int local_peak = 0;
    unsigned long long local_energy = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int sample = samples[i];
        local_peak = max(local_peak, abs(sample));
        local_energy += static_cast<unsigned long long>(sample * sample);
    }
    atomicMax(peak, local_peak);
    atomicAdd(energy, local_energy);
}

int main() {
    const int count = 50021, chunk = 8192, history = TAPS - 1, block = 128;

    int16_t taps[TAPS];
    for (int i = 0; i < TAPS; ++i) {  // a raised cosine with a sum of about 0.9
        const double window = 0.5 - 0.5 * std::cos(2.0 * M_PI * (i + 1) / (TAPS + 1));
        taps[i] = static_cast<int16_t>(std::lround(0.9 * 32768.0 * window / ((TAPS + 1) / 2.0)));
    }
    CUDA_CHECK(cudaMemcpyToSymbol(c_taps, taps, sizeof(taps)));

    // Silence before the first sample, then a square wave with noise.
    int16_t *h_in = nullptr, *h_out = nullptr;
    CUDA_CHECK(cudaMallocHost(&h_in, (history + count) * sizeof(int16_t)));
    CUDA_CHECK(cudaMallocHost(&h_out, count * sizeof(int16_t)));
    std::fill(h_in, h_in + history, static_cast<int16_t>(0));
    unsigned state = 1u;
    for (int i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        const int noise = static_cast<int>(state >> 20) - 2048;
        h_in[history + i] = static_cast<int16_t>((i / 100 % 2 ? 20000 : -20000) + noise);
    }

    int16_t *d_in = nullptr, *d_out = nullptr;
    int *d_peak = nullptr;
    unsigned long long *d_energy = nullptr;
    CUDA_CHECK(cudaMalloc(&d_in, (history + count) * sizeof(int16_t)));
    CUDA_CHECK(cudaMalloc(&d_out, count * sizeof(int16_t)));
    CUDA_CHECK(cudaMalloc(&d_peak, sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_energy, sizeof(unsigned long long)));
    CUDA_CHECK(cudaMemset(d_peak, 0, sizeof(int)));
    CUDA_CHECK(cudaMemset(d_energy, 0, sizeof(unsigned long long)));
    // All streams see the history of silence, which is uploaded before they start.
    CUDA_CHECK(cudaMemcpy(d_in, h_in, history * sizeof(int16_t), cudaMemcpyHostToDevice));

    cudaStream_t streams[STREAMS];
    cudaEvent_t uploaded, filtered[STREAMS];
    CUDA_CHECK(cudaEventCreateWithFlags(&uploaded, cudaEventDisableTiming));
    for (int s = 0; s < STREAMS; ++s) {
        CUDA_CHECK(cudaStreamCreate(&streams[s]));
        CUDA_CHECK(cudaEventCreateWithFlags(&filtered[s], cudaEventDisableTiming));
    }

    int s = 0;
    for (int start = 0; start < count; start += chunk, s = (s + 1) % STREAMS) {
        const int size = std::min(chunk, count - start);
        // The filter reads the end of the chunk before, which the other stream uploads.
        if (start > 0) CUDA_CHECK(cudaStreamWaitEvent(streams[s], uploaded, 0));
        CUDA_CHECK(cudaMemcpyAsync(d_in + history + start, h_in + history + start,
                                   size * sizeof(int16_t), cudaMemcpyHostToDevice, streams[s]));
        CUDA_CHECK(cudaEventRecord(uploaded, streams[s]));
        fir<<<(size + block - 1) / block, block, 0, streams[s]>>>(d_in + start, d_out + start,
                                                                  size);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(h_out + start, d_out + start, size * sizeof(int16_t),
                                   cudaMemcpyDeviceToHost, streams[s]));
        CUDA_CHECK(cudaEventRecord(filtered[s], streams[s]));
    }
    for (const cudaEvent_t &event : filtered) {
        CUDA_CHECK(cudaStreamWaitEvent(streams[0], event, 0));
    }
    level_meter<<<8, block, 0, streams[0]>>>(d_out, count, d_peak, d_energy);
    CUDA_CHECK(cudaGetLastError());
    for (const cudaStream_t &stream : streams) CUDA_CHECK(cudaStreamSynchronize(stream));

    int peak = 0, expected_peak = 0, result = 0;
    unsigned long long energy = 0, expected_energy = 0;
    CUDA_CHECK(cudaMemcpy(&peak, d_peak, sizeof(peak), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&energy, d_energy, sizeof(energy), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count && result == 0; ++i) {  // integers: exact
        int sum = 0;
        for (int tap = 0; tap < TAPS; ++tap) sum += taps[tap] * h_in[history + i - tap];
        const int16_t expected = round_q15(sum);
        if (h_out[i] != expected) {
            std::printf("sample %d is %d, expected %d\n", i, h_out[i], expected);
            result = 1;
        }
        expected_peak = std::max(expected_peak, std::abs(expected));
        expected_energy += static_cast<unsigned long long>(expected * expected);
    }
    if (result == 0 && (peak != expected_peak || energy != expected_energy)) {
        std::printf("peak %d, energy %llu; expected %d, %llu\n", peak, energy, expected_peak,
                    expected_energy);
        result = 1;
    }
    if (result == 0) {
        std::printf("%d samples, %d taps: peak %d, energy %llu\nPASS\n", count, TAPS, peak,
                    energy);
    }

    for (int i = 0; i < STREAMS; ++i) {
        CUDA_CHECK(cudaStreamDestroy(streams[i]));
        CUDA_CHECK(cudaEventDestroy(filtered[i]));
    }
    CUDA_CHECK(cudaEventDestroy(uploaded));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_peak));
    CUDA_CHECK(cudaFree(d_energy));
    CUDA_CHECK(cudaFreeHost(h_in));
    CUDA_CHECK(cudaFreeHost(h_out));
    return result;
}
