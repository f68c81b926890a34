// SPDX-License-Identifier: MIT
//
// SHA-256 of many messages at once, one thread for each. The device code keeps a
// rolling 16-word schedule and rotates with __funnelshift_r; the CPU reference uses
// the textbook 64-word schedule and is itself checked with the published digest of "abc".
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

static const uint32_t ROUND_CONSTANTS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static const uint32_t INITIAL_STATE[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

struct Digest {
    uint32_t word[8];
};

__constant__ uint32_t c_k[64];
__constant__ Digest c_initial;

__device__ __forceinline__ uint32_t rotr(uint32_t x, int n) { return __funnelshift_r(x, x, n); }

// Messages are padded on the host: offsets count 16-word big-endian blocks.
__global__ void sha256(const uint32_t *blocks, const int *offsets, Digest *digests, int count) {
    const int message = blockIdx.x * blockDim.x + threadIdx.x;
    if (message >= count) return;

    Digest state = c_initial;
    for (int block = offsets[message]; block < offsets[message + 1]; ++block) {
        uint32_t w[16];
#pragma unroll
        for (int i = 0; i < 16; ++i) w[i] = blocks[16 * block + i];

        uint32_t a = state.word[0], b = state.word[1], c = state.word[2], d = state.word[3];
        uint32_t e = state.word[4], f = state.word[5], g = state.word[6], h = state.word[7];
#pragma unroll 16
        for (int i = 0; i < 64; ++i) {
            const int slot = i % 16;
            if (i >= 16) {
                const uint32_t w1 = w[(i + 1) % 16], w14 = w[(i + 14) % 16];
                w[slot] += (rotr(w1, 7) ^ rotr(w1, 18) ^ (w1 >> 3)) + w[(i + 9) % 16] +
                           (rotr(w14, 17) ^ rotr(w14, 19) ^ (w14 >> 10));
            }
            const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + c_k[i] + w[slot];
            const uint32_t t2 =
                (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1;
            d = c, c = b, b = a, a = t1 + t2;
        }
        state.word[0] += a, state.word[1] += b, state.word[2] += c, state.word[3] += d;
        state.word[4] += e, state.word[5] += f, state.word[6] += g, state.word[7] += h;
    }
    digests[message] = state;
}

static std::vector<uint32_t> pad(const std::string &message) {
    std::vector<unsigned char> bytes(message.begin(), message.end());
    bytes.push_back(0x80);
    while (bytes.size() % 64 != 56) bytes.push_back(0);
    const uint64_t bits = 8 * static_cast<uint64_t>(message.size());
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<unsigned char>(bits >> shift));
    }
    std::vector<uint32_t> words(bytes.size() / 4, 0);
    for (size_t i = 0; i < bytes.size(); ++i) words[i / 4] = words[i / 4] << 8 | bytes[i];
    return words;
}

static uint32_t rotate_right(uint32_t x, int n) { return x >> n | x << (32 - n); }

static Digest sha256_reference(const std::vector<uint32_t> &words) {
    Digest digest;
    for (int i = 0; i < 8; ++i) digest.word[i] = INITIAL_STATE[i];
    for (size_t block = 0; block < words.size(); block += 16) {
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; ++i) w[i] = words[block + i];
        for (int i = 16; i < 64; ++i) {
            const uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] +
                   (rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3)) +
                   (rotate_right(y, 17) ^ rotate_right(y, 19) ^ (y >> 10));
        }
        for (int i = 0; i < 8; ++i) v[i] = digest.word[i];
        for (int i = 0; i < 64; ++i) {
            const uint32_t s1 =
                rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
            const uint32_t s0 =
                rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
            const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
            const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            const uint32_t t1 = v[7] + s1 + choice + ROUND_CONSTANTS[i] + w[i];
            for (int j = 7; j > 0; --j) v[j] = v[j - 1];
            v[4] += t1;
            v[0] = t1 + s0 + majority;
        }
        for (int i = 0; i < 8; ++i) digest.word[i] += v[i];
    }
    return digest;
}

int main() {
    const int count = 301, block = 64;
    std::vector<uint32_t> blocks;
    std::vector<int> offsets(1, 0);
    std::vector<Digest> expected, digests(count);
    for (int i = 0; i < count; ++i) {
        std::string message = i == 0 ? "abc" : std::string(i, 'a' + static_cast<char>(i % 26));
        if (i > 3) message[i / 2] = '#';
        const std::vector<uint32_t> words = pad(message);
        blocks.insert(blocks.end(), words.begin(), words.end());
        offsets.push_back(static_cast<int>(blocks.size() / 16));
        expected.push_back(sha256_reference(words));
    }
    if (expected[0].word[0] != 0xba7816bf || expected[0].word[7] != 0xf20015ad) {
        std::printf("the reference gives a wrong digest for \"abc\"\n");
        return 1;
    }

    uint32_t *d_blocks = nullptr;
    int *d_offsets = nullptr;
    Digest *d_digests = nullptr;
    CUDA_CHECK(cudaMemcpyToSymbol(c_k, ROUND_CONSTANTS, sizeof(ROUND_CONSTANTS)));
    CUDA_CHECK(cudaMemcpyToSymbol(c_initial, INITIAL_STATE, sizeof(INITIAL_STATE)));
    CUDA_CHECK(cudaMalloc(&d_blocks, blocks.size() * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&d_offsets, offsets.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_digests, count * sizeof(Digest)));
    CUDA_CHECK(cudaMemcpy(d_blocks, blocks.data(), blocks.size() * sizeof(uint32_t),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_offsets, offsets.data(), offsets.size() * sizeof(int),
                          cudaMemcpyHostToDevice));
    sha256<<<(count + block - 1) / block, block>>>(d_blocks, d_offsets, d_digests, count);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(digests.data(), d_digests, count * sizeof(Digest),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_blocks));
    CUDA_CHECK(cudaFree(d_offsets));
    CUDA_CHECK(cudaFree(d_digests));

    uint32_t combined = 0;
    for (int i = 0; i < count; ++i) {  // integers: exact
        for (int j = 0; j < 8; ++j) {
            if (digests[i].word[j] != expected[i].word[j]) {
                std::printf("message %d, word %d: %08x, expected %08x\n", i, j,
                            digests[i].word[j], expected[i].word[j]);
                return 1;
            }
            combined = combined * 31u + digests[i].word[j];
        }
    }
    std::printf("sha256(\"abc\") = %08x...%08x\n%d digests, combined %08x\nPASS\n",
                digests[0].word[0], digests[0].word[7], count, combined);
    return 0;
}
