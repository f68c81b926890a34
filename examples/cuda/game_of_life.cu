// SPDX-License-Identifier: MIT
//
// Conway's Game of Life on a torus with 32 cells packed into each word. Neighbour
// columns come from __funnelshift_l and __funnelshift_r, and the eight neighbours of
// 32 cells are counted at once with bitwise adders.
#include <cuda_runtime.h>

#include <cstdint>
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

// Bit i of a word is column 32 * word + i.
struct RowTriple {
    uint32_t west, middle, east;
};

__device__ RowTriple load_row(const uint32_t *row, int word, int words) {
    const uint32_t previous = row[(word + words - 1) % words];
    const uint32_t current = row[word];
    const uint32_t next = row[(word + 1) % words];
    return {__funnelshift_l(previous, current, 1), current, __funnelshift_r(current, next, 1)};
}

__device__ void full_adder(uint32_t a, uint32_t b, uint32_t c, uint32_t &sum, uint32_t &carry) {
    sum = a ^ b ^ c;
    carry = (a & b) | (c & (a ^ b));
}

__global__ void life_step(const uint32_t *cells, uint32_t *next, int words, int height) {
    const int word = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (word >= words || y >= height) return;

    const RowTriple above = load_row(cells + (y + height - 1) % height * words, word, words);
    const RowTriple here = load_row(cells + y * words, word, words);
    const RowTriple below = load_row(cells + (y + 1) % height * words, word, words);

    // ones + 2 * twos + 4 * fours = number of living neighbours; 8 overflows to 0: also dead.
    uint32_t sum_above, carry_above, sum_below, carry_below, ones, carry_ones;
    full_adder(above.west, above.middle, above.east, sum_above, carry_above);
    full_adder(below.west, below.middle, below.east, sum_below, carry_below);
    const uint32_t sum_here = here.west ^ here.east, carry_here = here.west & here.east;
    full_adder(sum_above, sum_here, sum_below, ones, carry_ones);
    uint32_t sum_twos, carry_twos;
    full_adder(carry_above, carry_here, carry_below, sum_twos, carry_twos);
    const uint32_t twos = sum_twos ^ carry_ones;
    const uint32_t fours = carry_twos ^ (sum_twos & carry_ones);

    next[y * words + word] = twos & ~fours & (ones | here.middle);
}

__global__ void count_living(const uint32_t *cells, int n, unsigned *living) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(living, static_cast<unsigned>(__popc(cells[i])));
}

int main() {
    const int words = 7, width = 32 * words, height = 151, generations = 60;

    std::vector<uint32_t> packed(words * height, 0);
    std::vector<unsigned char> board(width * height, 0), scratch(board.size());
    uint32_t state = 123456789u;
    for (int i = 0; i < width * height; ++i) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        board[i] = state % 10 < 3;
        if (board[i]) packed[i / 32] |= 1u << (i % 32);
    }

    const int n = words * height;
    uint32_t *d_cells = nullptr, *d_next = nullptr;
    unsigned *d_living = nullptr, living = 0;
    CUDA_CHECK(cudaMalloc(&d_cells, n * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&d_next, n * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&d_living, sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(d_living, 0, sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(d_cells, packed.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice));

    const dim3 block(4, 32);
    const dim3 grid((words + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    for (int generation = 0; generation < generations; ++generation) {
        life_step<<<grid, block>>>(d_cells, d_next, words, height);
        CUDA_CHECK(cudaGetLastError());
        std::swap(d_cells, d_next);

        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                int neighbours = 0;
                for (int dy = -1; dy <= 1; ++dy) {
                    for (int dx = -1; dx <= 1; ++dx) {
                        if (dx == 0 && dy == 0) continue;
                        neighbours += board[(y + dy + height) % height * width +
                                            (x + dx + width) % width];
                    }
                }
                scratch[y * width + x] =
                    neighbours == 3 || (neighbours == 2 && board[y * width + x]);
            }
        }
        board.swap(scratch);
    }
    count_living<<<(n + 127) / 128, 128>>>(d_cells, n, d_living);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(packed.data(), d_cells, n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&living, d_living, sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_cells));
    CUDA_CHECK(cudaFree(d_next));
    CUDA_CHECK(cudaFree(d_living));

    unsigned expected_living = 0;
    for (int i = 0; i < width * height; ++i) {  // exact
        const int cell = packed[i / 32] >> (i % 32) & 1u;
        if (cell != board[i]) {
            std::printf("cell (%d, %d) is %d, expected %d\n", i % width, i / width, cell,
                        board[i]);
            return 1;
        }
        expected_living += board[i];
    }
    if (living != expected_living) {
        std::printf("%u living cells counted, expected %u\n", living, expected_living);
        return 1;
    }
    std::printf("%d x %d cells, %u alive after %d generations\nPASS\n", width, height, living,
                generations);
    return 0;
}
