// SPDX-License-Identifier: MIT
//
// Generic reduction in two passes: a grid-stride loop with a shared-memory tree
// in each block, then one block over the partial results. The operator is a
// functor given as template parameter; sum, minimum and maximum are shown.
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t e = (call);                                                            \
        if (e != cudaSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(e), \
                         cudaGetErrorString(e));                                           \
            std::exit(EXIT_FAILURE);                                                       \
        }                                                                                  \
    } while (0)

// Owns a device allocation.
template <typename T>
class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t count) : count_(count) {
        CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
    }
    explicit DeviceBuffer(const std::vector<T> &host) : DeviceBuffer(host.size()) {
        CUDA_CHECK(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~DeviceBuffer() { cudaFree(data_); }
    DeviceBuffer(const DeviceBuffer &) = delete;
    DeviceBuffer &operator=(const DeviceBuffer &) = delete;

    T *get() const { return data_; }
    T front() const {
        T value;
        CUDA_CHECK(cudaMemcpy(&value, data_, sizeof(T), cudaMemcpyDeviceToHost));
        return value;
    }

private:
    T *data_ = nullptr;
    size_t count_;
};

struct Sum {
    static constexpr const char *name = "sum";
    __host__ __device__ static long long identity() { return 0; }
    __host__ __device__ long long operator()(long long a, long long b) const { return a + b; }
};

struct Minimum {
    static constexpr const char *name = "minimum";
    __host__ __device__ static long long identity() { return LLONG_MAX; }
    __host__ __device__ long long operator()(long long a, long long b) const {
        return b < a ? b : a;
    }
};

struct Maximum {
    static constexpr const char *name = "maximum";
    __host__ __device__ static long long identity() { return LLONG_MIN; }
    __host__ __device__ long long operator()(long long a, long long b) const {
        return b > a ? b : a;
    }
};

template <typename In, typename Op, int BLOCK>
__global__ void reduce(const In *in, long long *out, int count, Op op) {
    __shared__ long long partial[BLOCK];

    long long value = Op::identity();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += BLOCK * gridDim.x) {
        value = op(value, static_cast<long long>(in[i]));
    }
    partial[threadIdx.x] = value;
    __syncthreads();

    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            partial[threadIdx.x] = op(partial[threadIdx.x], partial[threadIdx.x + stride]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

template <typename Op>
static bool check(const DeviceBuffer<int> &d_values, const std::vector<int> &values) {
    constexpr int block = 128;
    const int count = static_cast<int>(values.size());
    const int blocks = std::min(37, (count + block - 1) / block);

    DeviceBuffer<long long> d_partial(blocks), d_result(1);
    reduce<int, Op, block><<<blocks, block>>>(d_values.get(), d_partial.get(), count, Op{});
    CUDA_CHECK(cudaGetLastError());
    reduce<long long, Op, block><<<1, block>>>(d_partial.get(), d_result.get(), blocks, Op{});
    CUDA_CHECK(cudaGetLastError());
    const long long result = d_result.front();

    long long expected = Op::identity();
    for (int value : values) expected = Op{}(expected, value);
    if (result != expected) {  // integers: exact
        std::printf("%s: %lld, expected %lld\n", Op::name, result, expected);
        return false;
    }
    std::printf("%-7s = %lld\n", Op::name, result);
    return true;
}

int main() {
    std::vector<int> values(100003);
    unsigned state = 12345u;
    for (int &value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<int>(state >> 1) - 1000000000;
    }

    const DeviceBuffer<int> d_values(values);
    if (!check<Sum>(d_values, values)) return 1;
    if (!check<Minimum>(d_values, values)) return 1;
    if (!check<Maximum>(d_values, values)) return 1;
    std::printf("PASS\n");
    return 0;
}
