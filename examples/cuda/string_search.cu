// SPDX-License-Identifier: MIT
//
// Search of several patterns in one text. The patterns are in __constant__ memory;
// every block stages its part of the text with an overlap in shared memory. Counts
// and first positions are kept with atomicAdd and atomicMin.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t err = (call);                                                         \
        if (err != cudaSuccess) {                                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err));          \
            exit(EXIT_FAILURE);                                                           \
        }                                                                                 \
    } while (0)

#define MAX_PATTERNS 8
#define MAX_LENGTH 24
#define BLOCK 256

typedef struct {
    int length;
    char text[MAX_LENGTH];
} Pattern;

typedef struct {
    unsigned int count;
    unsigned int first; /* text length if there is none */
} Match;

__constant__ Pattern c_patterns[MAX_PATTERNS];

__global__ void search(const char *text, unsigned int length, int patterns, Match *matches) {
    __shared__ char window[BLOCK + MAX_LENGTH];
    unsigned int start = blockIdx.x * BLOCK;

    for (unsigned int i = threadIdx.x; i < BLOCK + MAX_LENGTH; i += BLOCK) {
        window[i] = start + i < length ? text[start + i] : '\0';
    }
    __syncthreads();

    unsigned int position = start + threadIdx.x;
    for (int p = 0; p < patterns; ++p) {
        int pattern_length = c_patterns[p].length;
        if (position + pattern_length > length) {
            continue;
        }
        int i = 0;
        while (i < pattern_length && window[threadIdx.x + i] == c_patterns[p].text[i]) {
            ++i;
        }
        if (i == pattern_length) {
            atomicAdd(&matches[p].count, 1u);
            atomicMin(&matches[p].first, position);
        }
    }
}

int main(void) {
    static const char *const words[] = {"warp ", "block ", "grid ", "lane ", "thread ", "barrier "};
    static const char *const needles[] = {"warp", "lane thread", "grid grid grid", "r b", "e",
                                          "warp block grid", "kernel"};
    const int patterns = (int)(sizeof(needles) / sizeof(needles[0]));
    const unsigned int length = 70001;

    /* A text of random words; it ends in the middle of one. */
    char *text = (char *)malloc(length + MAX_LENGTH);
    unsigned int filled = 0, state = 5u;
    while (filled < length) {
        state = state * 1664525u + 1013904223u;
        const char *word = words[(state >> 16) % 6];
        memcpy(text + filled, word, strlen(word));
        filled += (unsigned int)strlen(word);
    }

    Pattern host_patterns[MAX_PATTERNS];
    memset(host_patterns, 0, sizeof(host_patterns));
    Match matches[MAX_PATTERNS];
    for (int p = 0; p < MAX_PATTERNS; ++p) {
        matches[p].count = 0;
        matches[p].first = length;
    }
    for (int p = 0; p < patterns; ++p) {
        host_patterns[p].length = (int)strlen(needles[p]);
        memcpy(host_patterns[p].text, needles[p], strlen(needles[p]));
    }
    CUDA_CHECK(cudaMemcpyToSymbol(c_patterns, host_patterns, sizeof(host_patterns)));

    char *d_text;
    Match *d_matches;
    CUDA_CHECK(cudaMalloc((void **)&d_text, length));
    CUDA_CHECK(cudaMalloc((void **)&d_matches, sizeof(matches)));
    CUDA_CHECK(cudaMemcpy(d_text, text, length, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_matches, matches, sizeof(matches), cudaMemcpyHostToDevice));
    search<<<(length + BLOCK - 1) / BLOCK, BLOCK>>>(d_text, length, patterns, d_matches);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(matches, d_matches, sizeof(matches), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_text));
    CUDA_CHECK(cudaFree(d_matches));

    int result = 0;
    for (int p = 0; p < patterns && result == 0; ++p) { /* integers: exact */
        unsigned int count = 0, first = length;
        unsigned int pattern_length = (unsigned int)strlen(needles[p]);
        for (unsigned int i = 0; i + pattern_length <= length; ++i) {
            if (memcmp(text + i, needles[p], pattern_length) == 0) {
                if (count == 0) first = i;
                ++count;
            }
        }
        if (matches[p].count != count || matches[p].first != first) {
            printf("\"%s\": %u matches, first at %u; expected %u, first at %u\n", needles[p],
                   matches[p].count, matches[p].first, count, first);
            result = 1;
        } else if (count > 0) {
            printf("\"%s\": %u matches, first at %u\n", needles[p], count, first);
        } else {
            printf("\"%s\": no match\n", needles[p]);
        }
    }
    if (result == 0) printf("PASS\n");
    free(text);
    return result;
}
