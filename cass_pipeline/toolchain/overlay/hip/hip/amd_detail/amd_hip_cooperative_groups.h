// Cooperative groups for AMD, in place of HIP 5.7.1's header of this name.
//
// Why: in 5.7.1 `size()` of a tile is ambiguous ("member 'size' found in multiple base classes"),
// and `num_threads()`, `ballot()`, `any()`, `all()`, `match_any()`, partitions of tiles and the
// block queries of a grid do not exist. CUDA code uses all of them.
//
// Limits, against CUDA:
//   - A tile is at most one wave: 32 lanes on gfx1100. Larger tiles are a compile error.
//   - The lanes of a wave run in step, so `sync()` of a tile or of a coalesced group orders memory
//     and waits for nobody. Every member must be active at a collective call, as in CUDA.
//   - `barrier_arrive`/`barrier_wait`, clusters and tiles in shared memory are not offered.
//   - `grid_group::sync()` needs a cooperative launch, as in CUDA.
#ifndef CASS_COOPERATIVE_GROUPS_H
#define CASS_COOPERATIVE_GROUPS_H
// HIP's own header must not be read after this one.
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COOPERATIVE_GROUPS_H

#include <hip/amd_detail/hip_cooperative_groups_helper.h>

#define CASS_CG __device__ __forceinline__

namespace cooperative_groups {

namespace detail {

// The value that `lane` of the wave holds; any trivially copyable type, a word at a time.
template <class T> CASS_CG T value_of_lane(const T& value, unsigned lane) {
  constexpr unsigned words = (sizeof(T) + 3) / 4;
  int buffer[words] = {};
  __builtin_memcpy(buffer, &value, sizeof(T));
#pragma unroll
  for (unsigned word = 0; word < words; ++word)
    buffer[word] = __builtin_amdgcn_ds_bpermute(static_cast<int>(lane << 2), buffer[word]);
  T result;
  __builtin_memcpy(&result, buffer, sizeof(T));
  return result;
}

CASS_CG lane_mask ballot(int predicate) { return static_cast<lane_mask>(__ballot(predicate)); }

CASS_CG unsigned count(lane_mask mask) { return static_cast<unsigned>(__builtin_popcountll(mask)); }

CASS_CG unsigned lowest(lane_mask mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }

// Lane of the member with rank `rank`; `rank` is below the number of members.
CASS_CG unsigned lane_of_rank(lane_mask members, unsigned rank) {
  for (; rank > 0; --rank) members &= members - 1;
  return lowest(members);
}

// Bits of `bits` at the members' lanes, moved to the members' ranks.
CASS_CG lane_mask by_rank(lane_mask members, lane_mask bits) {
  if ((members & (members + 1)) == 0) return bits & members;
  lane_mask packed = 0;
  for (unsigned rank = 0; members != 0; ++rank, members &= members - 1)
    packed |= ((bits >> lowest(members)) & 1) << rank;
  return packed;
}

template <class T> CASS_CG bool same(const T& left, const T& right) {
  constexpr unsigned words = (sizeof(T) + 3) / 4;
  int one[words] = {}, other[words] = {};
  __builtin_memcpy(one, &left, sizeof(T));
  __builtin_memcpy(other, &right, sizeof(T));
  bool equal = true;
#pragma unroll
  for (unsigned word = 0; word < words; ++word) equal = equal && one[word] == other[word];
  return equal;
}

// Lanes among `members` that hold the same value as the calling one.
template <class T> CASS_CG lane_mask lanes_with(lane_mask members, const T& value) {
  lane_mask result = 0;
  for (lane_mask todo = members; todo != 0;) {
    const bool equal = same(value_of_lane(value, lowest(todo)), value);
    const lane_mask found = ballot(equal) & todo;
    if (equal) result = found;
    todo &= ~found;
  }
  return result;
}

}  // namespace detail

// Any group, its kind known at run time only.
class thread_group {
 public:
  CASS_CG thread_group(internal::group_type type, unsigned long long size, lane_mask members = 0)
      : type_(type), size_(size), members_(members) {}

  CASS_CG unsigned long long size() const { return size_; }
  CASS_CG unsigned long long num_threads() const { return size_; }
  CASS_CG unsigned cg_type() const { return type_; }

  CASS_CG unsigned long long thread_rank() const {
    switch (type_) {
      case internal::cg_multi_grid: return internal::multi_grid::thread_rank();
      case internal::cg_grid: return internal::grid::thread_rank();
      case internal::cg_workgroup: return internal::workgroup::thread_rank();
      case internal::cg_invalid: return 0;
      default: return internal::coalesced_group::masked_bit_count(members_);
    }
  }

  CASS_CG bool is_valid() const {
    switch (type_) {
      case internal::cg_multi_grid: return internal::multi_grid::is_valid();
      case internal::cg_grid: return internal::grid::is_valid();
      default: return true;
    }
  }

  CASS_CG void sync() const {
    switch (type_) {
      case internal::cg_multi_grid: internal::multi_grid::sync(); break;
      case internal::cg_grid: internal::grid::sync(); break;
      case internal::cg_workgroup: internal::workgroup::sync(); break;
      case internal::cg_invalid: break;
      default: internal::tiled_group::sync();
    }
  }

  CASS_CG lane_mask members() const { return members_; }

 private:
  internal::group_type type_;
  unsigned long long size_;
  lane_mask members_;
};

class multi_grid_group {
 public:
  CASS_CG unsigned num_grids() const { return internal::multi_grid::num_grids(); }
  CASS_CG unsigned grid_rank() const { return internal::multi_grid::grid_rank(); }
  CASS_CG unsigned long long size() const { return internal::multi_grid::size(); }
  CASS_CG unsigned long long num_threads() const { return size(); }
  CASS_CG unsigned long long thread_rank() const { return internal::multi_grid::thread_rank(); }
  CASS_CG bool is_valid() const { return internal::multi_grid::is_valid(); }
  CASS_CG void sync() const { internal::multi_grid::sync(); }
  CASS_CG operator thread_group() const { return {internal::cg_multi_grid, size()}; }
};

class grid_group {
 public:
  CASS_CG static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  CASS_CG static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  CASS_CG static unsigned long long size() { return num_blocks() * internal::workgroup::size(); }
  CASS_CG static unsigned long long num_threads() { return size(); }
  CASS_CG static unsigned long long thread_rank() {
    return block_rank() * internal::workgroup::size() + internal::workgroup::thread_rank();
  }
  CASS_CG static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  CASS_CG static dim3 group_dim() { return dim_blocks(); }
  CASS_CG static dim3 block_index() { return internal::workgroup::group_index(); }
  CASS_CG static dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }
  CASS_CG static dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
  CASS_CG bool is_valid() const { return internal::grid::is_valid(); }
  CASS_CG void sync() const { internal::grid::sync(); }
  CASS_CG operator thread_group() const { return {internal::cg_grid, size()}; }
};

class thread_block {
 public:
  CASS_CG static unsigned size() { return internal::workgroup::size(); }
  CASS_CG static unsigned num_threads() { return size(); }
  CASS_CG static unsigned thread_rank() { return internal::workgroup::thread_rank(); }
  CASS_CG static dim3 group_index() { return internal::workgroup::group_index(); }
  CASS_CG static dim3 thread_index() { return internal::workgroup::thread_index(); }
  CASS_CG static dim3 group_dim() { return internal::workgroup::block_dim(); }
  CASS_CG static dim3 dim_threads() { return internal::workgroup::block_dim(); }
  CASS_CG static bool is_valid() { return true; }
  CASS_CG static void sync() { internal::workgroup::sync(); }
  CASS_CG operator thread_group() const { return {internal::cg_workgroup, size()}; }
};

// The active lanes of a wave, or some of them.
class coalesced_group {
 public:
  CASS_CG explicit coalesced_group(lane_mask members, unsigned meta_rank = 0, unsigned meta_size = 1)
      : members_(members), meta_rank_(meta_rank), meta_size_(meta_size) {}

  CASS_CG unsigned size() const { return detail::count(members_); }
  CASS_CG unsigned num_threads() const { return size(); }
  CASS_CG unsigned thread_rank() const {
    return internal::coalesced_group::masked_bit_count(members_);
  }
  CASS_CG unsigned meta_group_rank() const { return meta_rank_; }
  CASS_CG unsigned meta_group_size() const { return meta_size_; }
  CASS_CG bool is_valid() const { return true; }
  CASS_CG void sync() const { internal::tiled_group::sync(); }
  CASS_CG lane_mask members() const { return members_; }
  CASS_CG operator thread_group() const {
    return {internal::cg_coalesced_group, size(), members_};
  }

  template <class T> CASS_CG T shfl(T value, int rank) const {
    return from(value, static_cast<unsigned>(rank) % size());
  }
  template <class T> CASS_CG T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from(value, rank + delta < size() ? rank + delta : rank);
  }
  template <class T> CASS_CG T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from(value, rank >= delta ? rank - delta : rank);
  }
  CASS_CG lane_mask ballot(int predicate) const {
    return detail::by_rank(members_, detail::ballot(predicate));
  }
  CASS_CG int any(int predicate) const { return (detail::ballot(predicate) & members_) != 0; }
  CASS_CG int all(int predicate) const { return (~detail::ballot(predicate) & members_) == 0; }
  template <class T> CASS_CG lane_mask match_any(T value) const {
    return detail::by_rank(members_, detail::lanes_with(members_, value));
  }
  template <class T> CASS_CG lane_mask match_all(T value, int& all_same) const {
    all_same = all(detail::same(shfl(value, 0), value));
    return all_same ? detail::by_rank(members_, members_) : 0;
  }

 private:
  template <class T> CASS_CG T from(const T& value, unsigned rank) const {
    return detail::value_of_lane(value, detail::lane_of_rank(members_, rank));
  }

  lane_mask members_;
  unsigned meta_rank_, meta_size_;
};

// A tile of `tile` neighbouring lanes; `tile` is a power of two, at most a wave.
template <unsigned tile, class Parent = void> class thread_block_tile {
  static_assert(is_valid_tile_size<tile>::value,
                "a tile holds a power of two of threads, and at most one wave");

 public:
  CASS_CG thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : meta_rank_(meta_rank), meta_size_(meta_size) {}
  template <class Other>
  CASS_CG thread_block_tile(const thread_block_tile<tile, Other>& other)
      : meta_rank_(other.meta_group_rank()), meta_size_(other.meta_group_size()) {}

  CASS_CG static constexpr unsigned size() { return tile; }
  CASS_CG static constexpr unsigned num_threads() { return tile; }
  CASS_CG static unsigned thread_rank() { return __lane_id() & (tile - 1); }
  CASS_CG unsigned meta_group_rank() const { return meta_rank_; }
  CASS_CG unsigned meta_group_size() const { return meta_size_; }
  CASS_CG static bool is_valid() { return true; }
  CASS_CG static void sync() { internal::tiled_group::sync(); }
  CASS_CG static lane_mask members() { return in_tile() << first_lane(); }
  CASS_CG operator thread_group() const { return {internal::cg_tiled_group, tile, members()}; }

  template <class T> CASS_CG T shfl(T value, int rank) const {
    return detail::value_of_lane(value, first_lane() + (static_cast<unsigned>(rank) & (tile - 1)));
  }
  template <class T> CASS_CG T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return detail::value_of_lane(value, first_lane() + (rank + delta < tile ? rank + delta : rank));
  }
  template <class T> CASS_CG T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return detail::value_of_lane(value, first_lane() + (rank >= delta ? rank - delta : rank));
  }
  template <class T> CASS_CG T shfl_xor(T value, unsigned mask) const {
    return detail::value_of_lane(value, first_lane() + ((thread_rank() ^ mask) & (tile - 1)));
  }
  CASS_CG lane_mask ballot(int predicate) const {
    return (detail::ballot(predicate) >> first_lane()) & in_tile();
  }
  CASS_CG int any(int predicate) const { return ballot(predicate) != 0; }
  CASS_CG int all(int predicate) const { return ballot(!predicate) == 0; }
  template <class T> CASS_CG lane_mask match_any(T value) const {
    return detail::lanes_with(members(), value) >> first_lane();
  }
  template <class T> CASS_CG lane_mask match_all(T value, int& all_same) const {
    all_same = all(detail::same(shfl(value, 0), value));
    return all_same ? in_tile() : 0;
  }

 private:
  CASS_CG static unsigned first_lane() { return __lane_id() & ~(tile - 1); }
  CASS_CG static constexpr lane_mask in_tile() {
    return static_cast<lane_mask>(-1) >> (sizeof(lane_mask) * 8 - tile);
  }

  unsigned meta_rank_, meta_size_;
};

CASS_CG multi_grid_group this_multi_grid() { return {}; }
CASS_CG grid_group this_grid() { return {}; }
CASS_CG thread_block this_thread_block() { return {}; }
CASS_CG thread_group this_thread() { return {internal::cg_invalid, 1}; }
CASS_CG coalesced_group coalesced_threads() {
  return coalesced_group(static_cast<lane_mask>(__builtin_amdgcn_read_exec()));
}

template <unsigned tile, class Parent>
CASS_CG thread_block_tile<tile, Parent> tiled_partition(const Parent& parent) {
  return {static_cast<unsigned>(parent.thread_rank()) / tile,
          static_cast<unsigned>(parent.size() + tile - 1) / tile};
}

// Members are taken in the order of their ranks, `tile` at a time.
CASS_CG coalesced_group tiled_partition(const coalesced_group& parent, unsigned tile) {
  const unsigned rank = parent.thread_rank() / tile;
  lane_mask members = 0, rest = parent.members();
  for (unsigned skipped = 0; skipped < rank * tile; ++skipped) rest &= rest - 1;
  for (unsigned taken = 0; taken < tile && rest != 0; ++taken, rest &= rest - 1)
    members |= rest & -rest;
  return coalesced_group(members, rank, (parent.size() + tile - 1) / tile);
}

CASS_CG thread_group tiled_partition(const thread_group& parent, unsigned tile) {
  const lane_mask wave = static_cast<lane_mask>(-1);
  const bool whole = parent.cg_type() == internal::cg_workgroup;
  const coalesced_group lanes(whole ? wave : parent.members());
  const coalesced_group part = tiled_partition(lanes, tile);
  return {internal::cg_tiled_group, tile, part.members()};
}

// The members that share the calling one's value.
template <class Group> CASS_CG coalesced_group labeled_partition(const Group& group, int label) {
  const lane_mask members = detail::lanes_with(group.members(), label);
  return coalesced_group(members);
}
template <class Group> CASS_CG coalesced_group binary_partition(const Group& group, bool label) {
  return labeled_partition(group, static_cast<int>(label));
}

template <class Group> CASS_CG void sync(const Group& group) { group.sync(); }
template <class Group> CASS_CG auto group_size(const Group& group) { return group.size(); }
template <class Group> CASS_CG auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> CASS_CG bool is_valid(const Group& group) { return group.is_valid(); }

}  // namespace cooperative_groups

#undef CASS_CG
#endif
