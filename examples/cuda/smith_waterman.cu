// SPDX-License-Identifier: MIT
//
// Smith-Waterman local alignment scores, dynamic programming along anti-diagonals:
// one block aligns one pair of sequences, its threads own rows of the score matrix,
// and only the last three diagonals are kept, in shared memory.
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

#define MAX_QUERY 128 /* rows, and threads in a block */
#define MAX_TARGET 200
#define PAIRS 20

typedef struct {
    int match, mismatch, gap;
} Scoring;

typedef struct {
    int query_length, target_length;
    char query[MAX_QUERY];
    char target[MAX_TARGET];
} SequencePair;

__global__ void smith_waterman(const SequencePair *pairs, Scoring scoring, int *best_scores) {
    /* Entry r + 1 of a diagonal belongs to row r; entry 0 is the zero border. */
    __shared__ int diagonals[3][MAX_QUERY + 1];
    __shared__ int block_best;

    const SequencePair *pair = &pairs[blockIdx.x];
    int rows = pair->query_length;
    int columns = pair->target_length;
    int row = threadIdx.x;
    char own = row < rows ? pair->query[row] : '\0';

    for (int d = 0; d < 3; ++d) {
        diagonals[d][row + 1] = 0;
        if (row == 0) diagonals[d][0] = 0;
    }
    if (row == 0) block_best = 0;
    __syncthreads();

    int best = 0;
    for (int diagonal = 0; diagonal < rows + columns - 1; ++diagonal) {
        int *current = diagonals[diagonal % 3];
        const int *previous = diagonals[(diagonal + 2) % 3];
        const int *before_previous = diagonals[(diagonal + 1) % 3];
        int column = diagonal - row;

        if (row < rows && column >= 0 && column < columns) {
            int substitution = own == pair->target[column] ? scoring.match : scoring.mismatch;
            /* In column 0 the left and upper-left neighbours are the zero border. */
            int upper_left = column > 0 ? before_previous[row] : 0;
            int left = column > 0 ? previous[row + 1] : 0;
            int up = previous[row];
            int score = max(0, upper_left + substitution);
            score = max(score, max(up, left) + scoring.gap);
            current[row + 1] = score;
            best = max(best, score);
        }
        __syncthreads();
    }

    atomicMax(&block_best, best);
    __syncthreads();
    if (row == 0) best_scores[blockIdx.x] = block_best;
}

static int smith_waterman_reference(const SequencePair *pair, Scoring scoring) {
    static int h[MAX_QUERY + 1][MAX_TARGET + 1];
    int best = 0;
    memset(h, 0, sizeof(h));
    for (int i = 1; i <= pair->query_length; ++i) {
        for (int j = 1; j <= pair->target_length; ++j) {
            int same = pair->query[i - 1] == pair->target[j - 1];
            int score = h[i - 1][j - 1] + (same ? scoring.match : scoring.mismatch);
            if (h[i - 1][j] + scoring.gap > score) score = h[i - 1][j] + scoring.gap;
            if (h[i][j - 1] + scoring.gap > score) score = h[i][j - 1] + scoring.gap;
            h[i][j] = score > 0 ? score : 0;
            if (h[i][j] > best) best = h[i][j];
        }
    }
    return best;
}

static unsigned int next_random(unsigned int *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

int main(void) {
    const Scoring scoring = {3, -2, -4};
    SequencePair *pairs = (SequencePair *)calloc(PAIRS, sizeof(SequencePair));
    int scores[PAIRS];

    /* The query is a stretch of the target with changed and dropped letters. */
    unsigned int state = 2024u;
    for (int p = 0; p < PAIRS; ++p) {
        SequencePair *pair = &pairs[p];
        pair->target_length = MAX_TARGET - 3 * p;
        for (int i = 0; i < pair->target_length; ++i) {
            pair->target[i] = "ACGT"[next_random(&state) % 4];
        }
        int wanted = MAX_QUERY - 5 * p;
        for (int i = p; i < pair->target_length && pair->query_length < wanted; ++i) {
            unsigned int event = next_random(&state) % 20;
            if (event == 0) continue;
            pair->query[pair->query_length++] =
                event <= 2 ? "ACGT"[next_random(&state) % 4] : pair->target[i];
        }
    }

    SequencePair *d_pairs;
    int *d_scores;
    CUDA_CHECK(cudaMalloc((void **)&d_pairs, PAIRS * sizeof(SequencePair)));
    CUDA_CHECK(cudaMalloc((void **)&d_scores, sizeof(scores)));
    CUDA_CHECK(cudaMemcpy(d_pairs, pairs, PAIRS * sizeof(SequencePair), cudaMemcpyHostToDevice));
    smith_waterman<<<PAIRS, MAX_QUERY>>>(d_pairs, scoring, d_scores);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(scores, d_scores, sizeof(scores), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_pairs));
    CUDA_CHECK(cudaFree(d_scores));

    int result = 0, total = 0;
    for (int p = 0; p < PAIRS && result == 0; ++p) { /* integers: exact */
        int expected = smith_waterman_reference(&pairs[p], scoring);
        if (scores[p] != expected) {
            printf("pair %d scores %d, expected %d\n", p, scores[p], expected);
            result = 1;
        }
        total += scores[p];
    }
    if (result == 0) {
        printf("%d alignments: first score %d, last %d, total %d\nPASS\n", PAIRS, scores[0],
               scores[PAIRS - 1], total);
    }
    free(pairs);
    return result;
}
