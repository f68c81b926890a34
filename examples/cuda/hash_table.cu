// SPDX-License-Identifier: MIT
//
// Hash table with open addressing that counts keys: atomicCAS claims a slot, linear
// probing resolves collisions, atomicAdd counts. Where a key lands depends on the
// order of the threads, but what a lookup finds does not.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        if (status != cudaSuccess) {                                                      \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

constexpr unsigned long long EMPTY = ~0ull;

struct Table {
    unsigned long long *keys;
    unsigned *counts;
    unsigned mask;  // capacity - 1; the capacity is a power of two
};

__host__ __device__ inline unsigned hash(unsigned long long key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    return static_cast<unsigned>(key);
}

__global__ void insert(Table table, const unsigned long long *keys, int n, unsigned *distinct) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned long long key = keys[i];
    for (unsigned slot = hash(key) & table.mask;; slot = (slot + 1) & table.mask) {
        const unsigned long long found = atomicCAS(&table.keys[slot], EMPTY, key);
        if (found == EMPTY) atomicAdd(distinct, 1u);
        if (found == EMPTY || found == key) {
            atomicAdd(&table.counts[slot], 1u);
            return;
        }
    }
}

__global__ void lookup(Table table, const unsigned long long *queries, int n, unsigned *counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned count = 0;
    for (unsigned slot = hash(queries[i]) & table.mask; table.keys[slot] != EMPTY;
         slot = (slot + 1) & table.mask) {
        if (table.keys[slot] == queries[i]) {
            count = table.counts[slot];
            break;
        }
    }
    counts[i] = count;
}

// Keys with the high half in use, small enough a range that many repeat.
static unsigned long long make_key(unsigned seed) {
    return static_cast<unsigned long long>(seed % 7001u) * 0x100000007ull + 12345u;
}

int main() {
    const int n = 20011, queries_count = 9001, block = 128;
    const unsigned capacity = 1u << 14;

    std::vector<unsigned long long> keys(n), queries(queries_count);
    std::unordered_map<unsigned long long, unsigned> expected;
    uint32_t state = 77u;
    for (unsigned long long &key : keys) {
        state = state * 1664525u + 1013904223u;
        key = make_key((state >> 10) % 97u * ((state >> 20) % 97u));
        ++expected[key];
    }
    for (int i = 0; i < queries_count; ++i) queries[i] = make_key(i) + i / 7001u;

    Table table = {nullptr, nullptr, capacity - 1};
    unsigned long long *d_keys = nullptr, *d_queries = nullptr;
    unsigned *d_counts = nullptr, *d_distinct = nullptr, distinct = 0;
    CUDA_CHECK(cudaMalloc(&table.keys, capacity * sizeof(unsigned long long)));
    CUDA_CHECK(cudaMalloc(&table.counts, capacity * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&d_keys, n * sizeof(unsigned long long)));
    CUDA_CHECK(cudaMalloc(&d_queries, queries_count * sizeof(unsigned long long)));
    CUDA_CHECK(cudaMalloc(&d_counts, queries_count * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&d_distinct, sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(table.keys, 0xff, capacity * sizeof(unsigned long long)));
    CUDA_CHECK(cudaMemset(table.counts, 0, capacity * sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(d_distinct, 0, sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(d_keys, keys.data(), n * sizeof(unsigned long long),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_queries, queries.data(), queries_count * sizeof(unsigned long long),
                          cudaMemcpyHostToDevice));

    insert<<<(n + block - 1) / block, block>>>(table, d_keys, n, d_distinct);
    CUDA_CHECK(cudaGetLastError());
    lookup<<<(queries_count + block - 1) / block, block>>>(table, d_queries, queries_count,
                                                          d_counts);
    CUDA_CHECK(cudaGetLastError());

    std::vector<unsigned> counts(queries_count);
    CUDA_CHECK(cudaMemcpy(counts.data(), d_counts, queries_count * sizeof(unsigned),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&distinct, d_distinct, sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(table.keys));
    CUDA_CHECK(cudaFree(table.counts));
    CUDA_CHECK(cudaFree(d_keys));
    CUDA_CHECK(cudaFree(d_queries));
    CUDA_CHECK(cudaFree(d_counts));
    CUDA_CHECK(cudaFree(d_distinct));

    int found = 0;
    unsigned long long occurrences = 0;
    for (int i = 0; i < queries_count; ++i) {  // integers: exact
        const auto entry = expected.find(queries[i]);
        const unsigned wanted = entry == expected.end() ? 0u : entry->second;
        if (counts[i] != wanted) {
            std::printf("query %d found %u, expected %u\n", i, counts[i], wanted);
            return 1;
        }
        found += counts[i] > 0;
        occurrences += counts[i];
    }
    if (distinct != expected.size()) {
        std::printf("%u distinct keys, expected %zu\n", distinct, expected.size());
        return 1;
    }
    std::printf("%d keys, %u distinct; %d of %d queries hit, %llu occurrences\nPASS\n", n,
                distinct, found, queries_count, occurrences);
    return 0;
}
