// `cooperative_groups::reduce` and its operators, which no HIP release up to 5.7.1 has.
//
// The order of the operations is a butterfly in a tile and by rank in a coalesced group; CUDA
// leaves it open, so floating-point sums may differ from NVIDIA's in the last places.
#ifndef CASS_COOPERATIVE_GROUPS_REDUCE_H
#define CASS_COOPERATIVE_GROUPS_REDUCE_H

#include <hip/hip_cooperative_groups.h>

namespace cooperative_groups {

template <class T = void> struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T = void> struct less {
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
  __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T = void> struct bit_or {
  __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T = void> struct bit_xor {
  __device__ T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned tile, class Parent, class T, class Operator>
__device__ __forceinline__ T reduce(const thread_block_tile<tile, Parent>& group, T value,
                                    Operator&& combine) {
#pragma unroll
  for (unsigned distance = tile / 2; distance > 0; distance /= 2)
    value = combine(value, group.shfl_xor(value, distance));
  return value;
}

template <class T, class Operator>
__device__ __forceinline__ T reduce(const coalesced_group& group, T value, Operator&& combine) {
  T result = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank)
    result = combine(result, group.shfl(value, static_cast<int>(rank)));
  return result;
}

}  // namespace cooperative_groups

#endif
