// `cooperative_groups::memcpy_async` and `wait`, which HIP does not have: a plain copy, since
// gfx1100 has no copy engine between global memory and LDS.
#ifndef CASS_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CASS_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include <hip/hip_cooperative_groups.h>

namespace cooperative_groups {

// `bytes` is a number of bytes.
template <class Group, class T>
__device__ __forceinline__ void memcpy_async(const Group& group, T* target, const T* source,
                                             size_t bytes) {
  const size_t step = group.size();
  const size_t whole = bytes / sizeof(T);
  for (size_t at = group.thread_rank(); at < whole; at += step) target[at] = source[at];
  char* bytes_to = reinterpret_cast<char*>(target);
  const char* bytes_from = reinterpret_cast<const char*>(source);
  for (size_t at = whole * sizeof(T) + group.thread_rank(); at < bytes; at += step)
    bytes_to[at] = bytes_from[at];
}

template <class Group> __device__ __forceinline__ void wait(const Group& group) { group.sync(); }

template <unsigned stages, class Group>
__device__ __forceinline__ void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

#endif
