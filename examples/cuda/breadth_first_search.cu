// SPDX-License-Identifier: MIT
//
// Level-synchronous breadth-first search on a graph in CSR form. Each launch expands
// one frontier; atomicCAS lets exactly one thread discover a vertex, and atomicAdd
// appends it to the next frontier.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <queue>
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

constexpr int UNREACHED = -1;

__global__ void expand_frontier(const int *row_offsets, const int *neighbours,
                                const int *frontier, int frontier_size, int *next_frontier,
                                int *next_size, int *levels, int next_level) {
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= frontier_size) return;

    const int vertex = frontier[tid];
    for (int edge = row_offsets[vertex]; edge < row_offsets[vertex + 1]; ++edge) {
        const int neighbour = neighbours[edge];
        if (atomicCAS(&levels[neighbour], UNREACHED, next_level) == UNREACHED) {
            next_frontier[atomicAdd(next_size, 1)] = neighbour;
        }
    }
}

struct Graph {
    std::vector<int> row_offsets, neighbours;
    int vertices() const { return static_cast<int>(row_offsets.size()) - 1; }
};

// A ring with random chords; the last vertices form a separate ring of their own.
static Graph make_graph(int vertices, int chords, int separate) {
    std::vector<std::vector<int>> adjacency(vertices);
    auto connect = [&](int a, int b) {
        adjacency[a].push_back(b);
        adjacency[b].push_back(a);
    };
    const int main_part = vertices - separate;
    for (int v = 0; v < main_part; ++v) connect(v, (v + 1) % main_part);
    for (int v = 0; v < separate; ++v) connect(main_part + v, main_part + (v + 1) % separate);
    unsigned state = 42u;
    for (int i = 0; i < chords; ++i) {
        state = state * 1664525u + 1013904223u;
        const int a = static_cast<int>((state >> 8) % main_part);
        state = state * 1664525u + 1013904223u;
        connect(a, static_cast<int>((state >> 8) % main_part));
    }
    Graph graph;
    graph.row_offsets.push_back(0);
    for (const std::vector<int> &list : adjacency) {
        graph.neighbours.insert(graph.neighbours.end(), list.begin(), list.end());
        graph.row_offsets.push_back(static_cast<int>(graph.neighbours.size()));
    }
    return graph;
}

static std::vector<int> bfs_reference(const Graph &graph, int source) {
    std::vector<int> levels(graph.vertices(), UNREACHED);
    std::queue<int> queue;
    levels[source] = 0;
    queue.push(source);
    while (!queue.empty()) {
        const int v = queue.front();
        queue.pop();
        for (int e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
            const int w = graph.neighbours[e];
            if (levels[w] == UNREACHED) {
                levels[w] = levels[v] + 1;
                queue.push(w);
            }
        }
    }
    return levels;
}

template <typename T>
static T *to_device(const std::vector<T> &host) {
    T *device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const Graph graph = make_graph(20011, 700, 50);
    const int source = 3, block = 128;

    std::vector<int> levels(graph.vertices(), UNREACHED), frontier(graph.vertices(), 0);
    levels[source] = 0;
    frontier[0] = source;
    int *d_row_offsets = to_device(graph.row_offsets);
    int *d_neighbours = to_device(graph.neighbours);
    int *d_levels = to_device(levels);
    int *d_frontier = to_device(frontier);
    int *d_next = to_device(frontier);
    int *d_next_size = nullptr;
    CUDA_CHECK(cudaMalloc(&d_next_size, sizeof(int)));

    int size = 1, depth = 0, widest = 1;
    while (size > 0) {
        CUDA_CHECK(cudaMemset(d_next_size, 0, sizeof(int)));
        expand_frontier<<<(size + block - 1) / block, block>>>(
            d_row_offsets, d_neighbours, d_frontier, size, d_next, d_next_size, d_levels,
            depth + 1);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&size, d_next_size, sizeof(int), cudaMemcpyDeviceToHost));
        if (size < 0 || size > graph.vertices()) {
            std::printf("frontier of %d, expected at most %d\n", size, graph.vertices());
            return 1;
        }
        std::swap(d_frontier, d_next);
        if (size > 0) ++depth;
        if (size > widest) widest = size;
    }
    CUDA_CHECK(cudaMemcpy(levels.data(), d_levels, levels.size() * sizeof(int),
                          cudaMemcpyDeviceToHost));
    for (int *pointer : {d_row_offsets, d_neighbours, d_levels, d_frontier, d_next, d_next_size}) {
        CUDA_CHECK(cudaFree(pointer));
    }

    const std::vector<int> expected = bfs_reference(graph, source);
    int reached = 0;
    for (int v = 0; v < graph.vertices(); ++v) {  // integers: exact
        if (levels[v] != expected[v]) {
            std::printf("vertex %d is at level %d, expected %d\n", v, levels[v], expected[v]);
            return 1;
        }
        reached += levels[v] != UNREACHED;
    }
    std::printf("%d of %d vertices reached, depth %d, widest frontier %d\nPASS\n", reached,
                graph.vertices(), depth, widest);
    return 0;
}
