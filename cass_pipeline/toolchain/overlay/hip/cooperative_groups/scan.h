// `cooperative_groups::inclusive_scan` and `exclusive_scan`, which HIP 5.7.1 does not have.
//
// An exclusive scan gives the first member `T()`: CUDA's result for sums.
#ifndef CASS_COOPERATIVE_GROUPS_SCAN_H
#define CASS_COOPERATIVE_GROUPS_SCAN_H

#include <cooperative_groups/reduce.h>

namespace cooperative_groups {

template <class Group, class T, class Operator>
__device__ __forceinline__ T inclusive_scan(const Group& group, T value, Operator&& combine) {
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const T earlier = group.shfl_up(value, distance);
    if (group.thread_rank() >= distance) value = combine(earlier, value);
  }
  return value;
}
template <class Group, class T>
__device__ __forceinline__ T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

template <class Group, class T, class Operator>
__device__ __forceinline__ T exclusive_scan(const Group& group, T value, Operator&& combine) {
  const T earlier = group.shfl_up(inclusive_scan(group, value, combine), 1);
  return group.thread_rank() == 0 ? T() : earlier;
}
template <class Group, class T>
__device__ __forceinline__ T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

#endif
