// CUDA names that HIP's headers do not declare, for code translated from CUDA.
//
// A translated tree gets only the sections that it uses. Every function does what the CUDA
// reference says of the function of that name, on a device whose wave has 32 lanes.
#pragma once

#include <hip/hip_runtime.h>

//// target macros
// Code that asks for an NVIDIA architecture gets the paths of one without tensor cores and without
// asynchronous copies; the host pass sees no architecture, as with nvcc.
#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
#define CASS_CUDA_ARCH 700
#endif

//// version macros
// The CUDA release that HIP's headers resemble most.
#define CASS_CUDA_VERSION 11000

//// warp: active lanes
// Only the lower half of HIP's 64-bit ballot is used by a wave of 32 lanes.
static __device__ inline unsigned int __activemask() {
  return static_cast<unsigned int>(__ballot(1));
}

//// warp: barrier
// The wave runs in lockstep: only the order of memory operations has to be kept.
static __device__ inline void __syncwarp(unsigned int = 0xffffffffu) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

//// warp: votes of some lanes
static __device__ inline unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return static_cast<unsigned int>(__ballot(predicate)) & mask;
}
static __device__ inline int __any_sync(unsigned int mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
static __device__ inline int __all_sync(unsigned int mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

//// warp: shuffles of some lanes
// A lane outside the mask is not asked for its value, so the mask says nothing more.
template <typename T>
static __device__ inline T __shfl_sync(unsigned int, T value, int lane, int width = 32) {
  return __shfl(value, lane, width);
}
template <typename T>
static __device__ inline T __shfl_up_sync(unsigned int, T value, unsigned int delta,
                                          int width = 32) {
  return __shfl_up(value, delta, width);
}
template <typename T>
static __device__ inline T __shfl_down_sync(unsigned int, T value, unsigned int delta,
                                            int width = 32) {
  return __shfl_down(value, delta, width);
}
template <typename T>
static __device__ inline T __shfl_xor_sync(unsigned int, T value, int lane_mask, int width = 32) {
  return __shfl_xor(value, lane_mask, width);
}

//// warp: match
template <typename T>
static __device__ inline unsigned int __match_any_sync(unsigned int mask, T value) {
  unsigned int todo = mask & static_cast<unsigned int>(__ballot(1));
  unsigned int peers = 0;
  while (todo) {
    const int lane = __ffs(todo) - 1;
    const bool equal = __shfl(value, lane) == value;
    const unsigned int group = static_cast<unsigned int>(__ballot(equal)) & todo;
    if (equal) peers = group;
    todo &= ~group;
  }
  return peers;
}
template <typename T>
static __device__ inline unsigned int __match_all_sync(unsigned int mask, T value, int* all) {
  const int first = __ffs(mask) - 1;
  const bool equal = __shfl(value, first) == value;
  *all = (static_cast<unsigned int>(__ballot(!equal)) & mask) == 0;
  return *all ? mask : 0;
}

//// warp: reductions
template <typename T, typename Op>
static __device__ inline T cass_reduce_sync(unsigned int mask, T value, Op op) {
  int lane = __ffs(mask) - 1;
  T result = __shfl(value, lane);
  for (mask &= mask - 1; mask; mask &= mask - 1) {
    lane = __ffs(mask) - 1;
    result = op(result, __shfl(value, lane));
  }
  return result;
}
template <typename T>
static __device__ inline T __reduce_add_sync(unsigned int mask, T value) {
  return cass_reduce_sync(mask, value, [](T a, T b) { return a + b; });
}
template <typename T>
static __device__ inline T __reduce_min_sync(unsigned int mask, T value) {
  return cass_reduce_sync(mask, value, [](T a, T b) { return b < a ? b : a; });
}
template <typename T>
static __device__ inline T __reduce_max_sync(unsigned int mask, T value) {
  return cass_reduce_sync(mask, value, [](T a, T b) { return a < b ? b : a; });
}
static __device__ inline unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) {
  return cass_reduce_sync(mask, value, [](unsigned int a, unsigned int b) { return a & b; });
}
static __device__ inline unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) {
  return cass_reduce_sync(mask, value, [](unsigned int a, unsigned int b) { return a | b; });
}
static __device__ inline unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) {
  return cass_reduce_sync(mask, value, [](unsigned int a, unsigned int b) { return a ^ b; });
}

//// cache hints
// A cache hint changes no result.
template <typename T>
static __device__ inline void __stcs(T* address, T value) { *address = value; }
template <typename T>
static __device__ inline void __stcg(T* address, T value) { *address = value; }
template <typename T>
static __device__ inline void __stwb(T* address, T value) { *address = value; }
template <typename T>
static __device__ inline void __stwt(T* address, T value) { *address = value; }
template <typename T>
static __device__ inline T __ldlu(const T* address) { return *address; }
template <typename T>
static __device__ inline T __ldcv(const T* address) {
  return *const_cast<const volatile T*>(address);
}

//// traps and waits
static __device__ inline void __trap() { __builtin_trap(); }
static __device__ inline void __brkpt() { __builtin_trap(); }
// Any wait is allowed: CUDA promises between nothing and twice the time asked for.
static __device__ inline void __nanosleep(unsigned int) { __builtin_amdgcn_s_sleep(1); }

//// integer extrema
static __host__ __device__ inline unsigned int umin(unsigned int a, unsigned int b) {
  return b < a ? b : a;
}
static __host__ __device__ inline unsigned int umax(unsigned int a, unsigned int b) {
  return a < b ? b : a;
}
static __host__ __device__ inline long long llmin(long long a, long long b) {
  return b < a ? b : a;
}
static __host__ __device__ inline long long llmax(long long a, long long b) {
  return a < b ? b : a;
}
static __host__ __device__ inline unsigned long long ullmin(unsigned long long a,
                                                            unsigned long long b) {
  return b < a ? b : a;
}
static __host__ __device__ inline unsigned long long ullmax(unsigned long long a,
                                                            unsigned long long b) {
  return a < b ? b : a;
}

//// dot products of bytes and halfwords
template <typename Byte, typename Int>
static __device__ inline Int cass_dot_bytes(Int a, Int b, Int sum) {
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<Int>(static_cast<Byte>(a >> shift)) *
           static_cast<Int>(static_cast<Byte>(b >> shift));
  }
  return sum;
}
static __device__ inline int __dp4a(int a, int b, int c) {
  return cass_dot_bytes<signed char>(a, b, c);
}
static __device__ inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  return cass_dot_bytes<unsigned char>(a, b, c);
}
static __device__ inline int __dp4a(char4 a, char4 b, int c) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c;
}
static __device__ inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c;
}
static __device__ inline int __dp2a_lo(int a, int b, int c) {
  return static_cast<short>(a) * static_cast<signed char>(b) +
         static_cast<short>(a >> 16) * static_cast<signed char>(b >> 8) + c;
}
static __device__ inline int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }

//// packed integers
// Applies `op` to each field of 8 or 16 bits.
template <typename Field, typename Op>
static __device__ inline unsigned int cass_each_field(unsigned int a, unsigned int b, Op op) {
  constexpr int bits = 8 * sizeof(Field);
  constexpr unsigned int ones = (1u << bits) - 1u;
  unsigned int result = 0;
  for (int shift = 0; shift < 32; shift += bits) {
    const int x = static_cast<Field>(a >> shift);
    const int y = static_cast<Field>(b >> shift);
    result |= (static_cast<unsigned int>(op(x, y)) & ones) << shift;
  }
  return result;
}
template <typename Field>
static __device__ inline int cass_saturate(int value) {
  constexpr int bits = 8 * sizeof(Field);
  constexpr bool is_signed = static_cast<Field>(-1) < 0;
  constexpr int low = is_signed ? -(1 << (bits - 1)) : 0;
  constexpr int high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  return value < low ? low : value > high ? high : value;
}
#define CASS_PACKED(name, Field, expression)                                        \
  static __device__ inline unsigned int name(unsigned int a, unsigned int b) {      \
    return cass_each_field<Field>(a, b, [](int x, int y) { return expression; });   \
  }
#define CASS_PACKED_ONE(name, Field, expression)                                    \
  static __device__ inline unsigned int name(unsigned int a) {                      \
    return cass_each_field<Field>(a, 0u, [](int x, int) { return expression; });    \
  }
CASS_PACKED(__vadd2, unsigned short, x + y)
CASS_PACKED(__vadd4, unsigned char, x + y)
CASS_PACKED(__vsub2, unsigned short, x - y)
CASS_PACKED(__vsub4, unsigned char, x - y)
CASS_PACKED(__vaddss2, short, cass_saturate<short>(x + y))
CASS_PACKED(__vaddss4, signed char, cass_saturate<signed char>(x + y))
CASS_PACKED(__vsubss2, short, cass_saturate<short>(x - y))
CASS_PACKED(__vsubss4, signed char, cass_saturate<signed char>(x - y))
CASS_PACKED(__vaddus2, unsigned short, cass_saturate<unsigned short>(x + y))
CASS_PACKED(__vaddus4, unsigned char, cass_saturate<unsigned char>(x + y))
CASS_PACKED(__vsubus2, unsigned short, cass_saturate<unsigned short>(x - y))
CASS_PACKED(__vsubus4, unsigned char, cass_saturate<unsigned char>(x - y))
CASS_PACKED(__vavgs2, short, (x + y + (x + y >= 0)) >> 1)
CASS_PACKED(__vavgs4, signed char, (x + y + (x + y >= 0)) >> 1)
CASS_PACKED(__vavgu2, unsigned short, (x + y + 1) >> 1)
CASS_PACKED(__vavgu4, unsigned char, (x + y + 1) >> 1)
CASS_PACKED(__vhaddu2, unsigned short, (x + y) >> 1)
CASS_PACKED(__vhaddu4, unsigned char, (x + y) >> 1)
CASS_PACKED(__vabsdiffs2, short, x < y ? y - x : x - y)
CASS_PACKED(__vabsdiffs4, signed char, x < y ? y - x : x - y)
CASS_PACKED(__vabsdiffu2, unsigned short, x < y ? y - x : x - y)
CASS_PACKED(__vabsdiffu4, unsigned char, x < y ? y - x : x - y)
CASS_PACKED(__vmaxs2, short, x < y ? y : x)
CASS_PACKED(__vmaxs4, signed char, x < y ? y : x)
CASS_PACKED(__vmaxu2, unsigned short, x < y ? y : x)
CASS_PACKED(__vmaxu4, unsigned char, x < y ? y : x)
CASS_PACKED(__vmins2, short, y < x ? y : x)
CASS_PACKED(__vmins4, signed char, y < x ? y : x)
CASS_PACKED(__vminu2, unsigned short, y < x ? y : x)
CASS_PACKED(__vminu4, unsigned char, y < x ? y : x)
CASS_PACKED(__vcmpeq2, unsigned short, -(x == y))
CASS_PACKED(__vcmpeq4, unsigned char, -(x == y))
CASS_PACKED(__vcmpne2, unsigned short, -(x != y))
CASS_PACKED(__vcmpne4, unsigned char, -(x != y))
CASS_PACKED(__vcmpges2, short, -(x >= y))
CASS_PACKED(__vcmpges4, signed char, -(x >= y))
CASS_PACKED(__vcmpgeu2, unsigned short, -(x >= y))
CASS_PACKED(__vcmpgeu4, unsigned char, -(x >= y))
CASS_PACKED(__vcmpgts2, short, -(x > y))
CASS_PACKED(__vcmpgts4, signed char, -(x > y))
CASS_PACKED(__vcmpgtu2, unsigned short, -(x > y))
CASS_PACKED(__vcmpgtu4, unsigned char, -(x > y))
CASS_PACKED(__vcmples2, short, -(x <= y))
CASS_PACKED(__vcmples4, signed char, -(x <= y))
CASS_PACKED(__vcmpleu2, unsigned short, -(x <= y))
CASS_PACKED(__vcmpleu4, unsigned char, -(x <= y))
CASS_PACKED(__vcmplts2, short, -(x < y))
CASS_PACKED(__vcmplts4, signed char, -(x < y))
CASS_PACKED(__vcmpltu2, unsigned short, -(x < y))
CASS_PACKED(__vcmpltu4, unsigned char, -(x < y))
CASS_PACKED(__vseteq2, unsigned short, x == y)
CASS_PACKED(__vseteq4, unsigned char, x == y)
CASS_PACKED(__vsetne2, unsigned short, x != y)
CASS_PACKED(__vsetne4, unsigned char, x != y)
CASS_PACKED_ONE(__vabs2, short, x < 0 ? -x : x)
CASS_PACKED_ONE(__vabs4, signed char, x < 0 ? -x : x)
CASS_PACKED_ONE(__vabsss2, short, cass_saturate<short>(x < 0 ? -x : x))
CASS_PACKED_ONE(__vabsss4, signed char, cass_saturate<signed char>(x < 0 ? -x : x))
CASS_PACKED_ONE(__vneg2, short, -x)
CASS_PACKED_ONE(__vneg4, signed char, -x)
CASS_PACKED_ONE(__vnegss2, short, cass_saturate<short>(-x))
CASS_PACKED_ONE(__vnegss4, signed char, cass_saturate<signed char>(-x))

//// sums of absolute differences
static __device__ inline unsigned int __vsadu4(unsigned int a, unsigned int b) {
  unsigned int sum = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const int x = (a >> shift) & 0xff;
    const int y = (b >> shift) & 0xff;
    sum += x < y ? y - x : x - y;
  }
  return sum;
}
static __device__ inline unsigned int __vsads4(unsigned int a, unsigned int b) {
  return __vsadu4(a ^ 0x80808080u, b ^ 0x80808080u);
}

//// atomics of one block
template <typename T>
static __device__ inline T atomicAdd_block(T* address, T value) {
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <typename T>
static __device__ inline T atomicExch_block(T* address, T value) {
  return __hip_atomic_exchange(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <typename T>
static __device__ inline T atomicMin_block(T* address, T value) {
  return __hip_atomic_fetch_min(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <typename T>
static __device__ inline T atomicMax_block(T* address, T value) {
  return __hip_atomic_fetch_max(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <typename T>
static __device__ inline T atomicOr_block(T* address, T value) {
  return __hip_atomic_fetch_or(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <typename T>
static __device__ inline T atomicAnd_block(T* address, T value) {
  return __hip_atomic_fetch_and(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <typename T>
static __device__ inline T atomicCAS_block(T* address, T expected, T value) {
  __hip_atomic_compare_exchange_strong(address, &expected, value, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  return expected;
}

//// half precision
#include <hip/hip_fp16.h>
static __device__ inline __half __double2half(double a) {
  return __half(static_cast<_Float16>(a));
}
// Never contracted into a fused operation.
#define CASS_HALF_RN(name, name2, op)                                                   \
  static __device__ inline __half name(__half a, __half b) {                            \
    _Pragma("clang fp contract(off)")                                                   \
    return __half(static_cast<_Float16>(a) op static_cast<_Float16>(b));                \
  }                                                                                     \
  static __device__ inline __half2 name2(__half2 a, __half2 b) {                        \
    return __halves2half2(name(__low2half(a), __low2half(b)),                           \
                          name(__high2half(a), __high2half(b)));                        \
  }
CASS_HALF_RN(__hadd_rn, __hadd2_rn, +)
CASS_HALF_RN(__hsub_rn, __hsub2_rn, -)
CASS_HALF_RN(__hmul_rn, __hmul2_rn, *)

//// bfloat16 <- \w*bfloat16\w*
// HIP before 6.0 declares a bare struct; this is the class that CUDA's headers declare, under
// HIP's name. Its header is kept out.
#define _HIP_INCLUDE_HIP_AMD_DETAIL_HIP_BF16_H_
#include <hip/hip_fp16.h>

struct __hip_bfloat16_raw {
  unsigned short x;
};
struct __hip_bfloat16 {
  unsigned short data;

  static __host__ __device__ inline unsigned short rounded(float value) {
    const unsigned int bits = __builtin_bit_cast(unsigned int, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }

  __hip_bfloat16() = default;
  __host__ __device__ __hip_bfloat16(const __hip_bfloat16_raw& raw) : data(raw.x) {}
  __host__ __device__ __hip_bfloat16(float value) : data(rounded(value)) {}
  __host__ __device__ __hip_bfloat16(double value) : data(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(int value) : data(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(unsigned int value)
      : data(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(short value) : data(rounded(value)) {}
  __host__ __device__ __hip_bfloat16(unsigned short value) : data(rounded(value)) {}
  __host__ __device__ __hip_bfloat16(long value) : data(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(unsigned long value)
      : data(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(long long value)
      : data(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(unsigned long long value)
      : data(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(__half value) : data(rounded(__half2float(value))) {}

  __host__ __device__ operator float() const {
    return __builtin_bit_cast(float, static_cast<unsigned int>(data) << 16);
  }
  __host__ __device__ operator __hip_bfloat16_raw() const { return {data}; }
  __host__ __device__ explicit operator bool() const { return (data & 0x7fff) != 0; }
};
struct __hip_bfloat162 {
  __hip_bfloat16 x;
  __hip_bfloat16 y;

  __hip_bfloat162() = default;
  __host__ __device__ __hip_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) : x(a), y(b) {}
};

#define CASS_BF16 static __host__ __device__ inline
#define CASS_BF16_OPERATOR(op)                                                                  \
  CASS_BF16 __hip_bfloat16 operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) {      \
    return __hip_bfloat16(static_cast<float>(a) op static_cast<float>(b));                      \
  }                                                                                             \
  CASS_BF16 __hip_bfloat16& operator op##=(__hip_bfloat16& a, const __hip_bfloat16& b) {        \
    return a = a op b;                                                                          \
  }                                                                                             \
  CASS_BF16 __hip_bfloat162 operator op(const __hip_bfloat162& a, const __hip_bfloat162& b) {   \
    return {a.x op b.x, a.y op b.y};                                                            \
  }                                                                                             \
  CASS_BF16 __hip_bfloat162& operator op##=(__hip_bfloat162& a, const __hip_bfloat162& b) {     \
    return a = a op b;                                                                          \
  }
CASS_BF16_OPERATOR(+)
CASS_BF16_OPERATOR(-)
CASS_BF16_OPERATOR(*)
CASS_BF16_OPERATOR(/)
#define CASS_BF16_COMPARISON(op, name)                                                          \
  CASS_BF16 bool operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) {                \
    return static_cast<float>(a) op static_cast<float>(b);                                      \
  }                                                                                             \
  CASS_BF16 bool __h##name(__hip_bfloat16 a, __hip_bfloat16 b) { return a op b; }               \
  CASS_BF16 __hip_bfloat162 __h##name##2(__hip_bfloat162 a, __hip_bfloat162 b) {                \
    return {__hip_bfloat16(a.x op b.x ? 1.f : 0.f), __hip_bfloat16(a.y op b.y ? 1.f : 0.f)};    \
  }                                                                                             \
  CASS_BF16 bool __hb##name##2(__hip_bfloat162 a, __hip_bfloat162 b) {                          \
    return a.x op b.x && a.y op b.y;                                                            \
  }
CASS_BF16_COMPARISON(==, eq)
CASS_BF16_COMPARISON(!=, ne)
CASS_BF16_COMPARISON(<, lt)
CASS_BF16_COMPARISON(<=, le)
CASS_BF16_COMPARISON(>, gt)
CASS_BF16_COMPARISON(>=, ge)
CASS_BF16 __hip_bfloat16 operator-(const __hip_bfloat16& a) {
  return __hip_bfloat16_raw{static_cast<unsigned short>(a.data ^ 0x8000)};
}
CASS_BF16 __hip_bfloat162 operator-(const __hip_bfloat162& a) { return {-a.x, -a.y}; }

CASS_BF16 float __bfloat162float(__hip_bfloat16 a) { return a; }
CASS_BF16 __hip_bfloat16 __float2bfloat16(float a) { return a; }
CASS_BF16 __hip_bfloat16 __float2bfloat16_rn(float a) { return a; }
CASS_BF16 __hip_bfloat16 __float2bfloat16_rz(float a) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, a);
  return __hip_bfloat16_raw{static_cast<unsigned short>(a == a ? bits >> 16 : 0x7fff)};
}
CASS_BF16 __hip_bfloat16 __double2bfloat16(double a) { return a; }
CASS_BF16 __hip_bfloat16 __int2bfloat16_rn(int a) { return a; }
CASS_BF16 __hip_bfloat16 __uint2bfloat16_rn(unsigned int a) { return a; }
CASS_BF16 __hip_bfloat16 __short2bfloat16_rn(short a) { return a; }
CASS_BF16 __hip_bfloat16 __ushort2bfloat16_rn(unsigned short a) { return a; }
CASS_BF16 __hip_bfloat16 __ll2bfloat16_rn(long long a) { return a; }
CASS_BF16 __hip_bfloat16 __ull2bfloat16_rn(unsigned long long a) { return a; }
CASS_BF16 int __bfloat162int_rz(__hip_bfloat16 a) { return static_cast<int>(float(a)); }
CASS_BF16 unsigned int __bfloat162uint_rz(__hip_bfloat16 a) {
  return static_cast<unsigned int>(float(a));
}
CASS_BF16 int __bfloat162int_rn(__hip_bfloat16 a) {
  return static_cast<int>(__builtin_rintf(float(a)));
}
CASS_BF16 short __bfloat16_as_short(__hip_bfloat16 a) { return static_cast<short>(a.data); }
CASS_BF16 unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.data; }
CASS_BF16 __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __hip_bfloat16_raw{a}; }
CASS_BF16 __hip_bfloat16 __short_as_bfloat16(short a) {
  return __hip_bfloat16_raw{static_cast<unsigned short>(a)};
}
CASS_BF16 __hip_bfloat162 make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return {a, b}; }
CASS_BF16 __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return {a, b}; }
CASS_BF16 __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
CASS_BF16 __hip_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
CASS_BF16 __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
CASS_BF16 __hip_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
CASS_BF16 float2 __bfloat1622float2(__hip_bfloat162 a) { return make_float2(a.x, a.y); }
CASS_BF16 float __low2float(__hip_bfloat162 a) { return a.x; }
CASS_BF16 float __high2float(__hip_bfloat162 a) { return a.y; }
CASS_BF16 __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
CASS_BF16 __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
CASS_BF16 __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
CASS_BF16 __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
CASS_BF16 __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return {a.y, a.x}; }
CASS_BF16 __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {a.x, b.x};
}
CASS_BF16 __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {a.y, b.y};
}

CASS_BF16 bool __hisnan(__hip_bfloat16 a) { return float(a) != float(a); }
CASS_BF16 int __hisinf(__hip_bfloat16 a) {
  return (a.data & 0x7fff) == 0x7f80 ? (a.data >> 15 ? -1 : 1) : 0;
}
CASS_BF16 __hip_bfloat16 __hneg(__hip_bfloat16 a) { return -a; }
CASS_BF16 __hip_bfloat16 __habs(__hip_bfloat16 a) {
  return __hip_bfloat16_raw{static_cast<unsigned short>(a.data & 0x7fff)};
}
CASS_BF16 __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __builtin_fmaxf(a, b);
}
CASS_BF16 __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __builtin_fminf(a, b);
}
CASS_BF16 __hip_bfloat16 __hmax_nan(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);
}
CASS_BF16 __hip_bfloat16 __hmin_nan(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);
}
CASS_BF16 __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
  return __builtin_fmaf(a, b, c);
}
CASS_BF16 __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return -a; }
CASS_BF16 __hip_bfloat162 __habs2(__hip_bfloat162 a) { return {__habs(a.x), __habs(a.y)}; }
CASS_BF16 __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#define CASS_BF16_BINARY(name, name2, expression)                                                \
  CASS_BF16 __hip_bfloat16 name(__hip_bfloat16 a, __hip_bfloat16 b) { return expression; }       \
  CASS_BF16 __hip_bfloat162 name2(__hip_bfloat162 a, __hip_bfloat162 b) {                        \
    return {name(a.x, b.x), name(a.y, b.y)};                                                     \
  }
CASS_BF16_BINARY(__hadd, __hadd2, a + b)
CASS_BF16_BINARY(__hsub, __hsub2, a - b)
CASS_BF16_BINARY(__hmul, __hmul2, a * b)
CASS_BF16_BINARY(__hdiv, __h2div, a / b)
CASS_BF16_BINARY(__hadd_rn, __hadd2_rn, a + b)
CASS_BF16_BINARY(__hsub_rn, __hsub2_rn, a - b)
CASS_BF16_BINARY(__hmul_rn, __hmul2_rn, a * b)
CASS_BF16 __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
CASS_BF16 __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
#define CASS_BF16_MATH(name, function)                                                           \
  static __device__ inline __hip_bfloat16 h##name(__hip_bfloat16 a) {                            \
    return function(static_cast<float>(a));                                                      \
  }                                                                                              \
  static __device__ inline __hip_bfloat162 h2##name(__hip_bfloat162 a) {                         \
    return {h##name(a.x), h##name(a.y)};                                                         \
  }
CASS_BF16_MATH(ceil, ceilf)
CASS_BF16_MATH(cos, cosf)
CASS_BF16_MATH(exp, expf)
CASS_BF16_MATH(exp10, exp10f)
CASS_BF16_MATH(exp2, exp2f)
CASS_BF16_MATH(floor, floorf)
CASS_BF16_MATH(log, logf)
CASS_BF16_MATH(log10, log10f)
CASS_BF16_MATH(log2, log2f)
CASS_BF16_MATH(rcp, 1.f /)
CASS_BF16_MATH(rint, rintf)
CASS_BF16_MATH(rsqrt, rsqrtf)
CASS_BF16_MATH(sin, sinf)
CASS_BF16_MATH(sqrt, sqrtf)
CASS_BF16_MATH(tanh, tanhf)
CASS_BF16_MATH(trunc, truncf)

static __device__ inline __hip_bfloat16 __shfl(__hip_bfloat16 a, int lane, int width = 32) {
  return __ushort_as_bfloat16(__shfl(static_cast<int>(a.data), lane, width));
}
static __device__ inline __hip_bfloat16 __shfl_up(__hip_bfloat16 a, unsigned int delta,
                                                  int width = 32) {
  return __ushort_as_bfloat16(__shfl_up(static_cast<int>(a.data), delta, width));
}
static __device__ inline __hip_bfloat16 __shfl_down(__hip_bfloat16 a, unsigned int delta,
                                                    int width = 32) {
  return __ushort_as_bfloat16(__shfl_down(static_cast<int>(a.data), delta, width));
}
static __device__ inline __hip_bfloat16 __shfl_xor(__hip_bfloat16 a, int lane_mask,
                                                   int width = 32) {
  return __ushort_as_bfloat16(__shfl_xor(static_cast<int>(a.data), lane_mask, width));
}

//// directed rounding
// HIP's headers have these behind a switch that some of the library's functions do not bear.
#define CASS_ROUNDED_2(name, Float, function)                            \
  extern "C" __device__ __attribute__((const)) Float function(Float, Float); \
  static __device__ inline Float name(Float a, Float b) { return function(a, b); }
#define CASS_ROUNDED_3(name, Float, function)                                   \
  extern "C" __device__ __attribute__((const)) Float function(Float, Float, Float); \
  static __device__ inline Float name(Float a, Float b, Float c) { return function(a, b, c); }
CASS_ROUNDED_2(__fadd_rd, float, __ocml_add_rtn_f32)
CASS_ROUNDED_2(__fadd_ru, float, __ocml_add_rtp_f32)
CASS_ROUNDED_2(__fadd_rz, float, __ocml_add_rtz_f32)
CASS_ROUNDED_2(__fsub_rd, float, __ocml_sub_rtn_f32)
CASS_ROUNDED_2(__fsub_ru, float, __ocml_sub_rtp_f32)
CASS_ROUNDED_2(__fsub_rz, float, __ocml_sub_rtz_f32)
CASS_ROUNDED_2(__fmul_rd, float, __ocml_mul_rtn_f32)
CASS_ROUNDED_2(__fmul_ru, float, __ocml_mul_rtp_f32)
CASS_ROUNDED_2(__fmul_rz, float, __ocml_mul_rtz_f32)
CASS_ROUNDED_3(__fmaf_rd, float, __ocml_fma_rtn_f32)
CASS_ROUNDED_3(__fmaf_ru, float, __ocml_fma_rtp_f32)
CASS_ROUNDED_3(__fmaf_rz, float, __ocml_fma_rtz_f32)
CASS_ROUNDED_2(__dadd_rd, double, __ocml_add_rtn_f64)
CASS_ROUNDED_2(__dadd_ru, double, __ocml_add_rtp_f64)
CASS_ROUNDED_2(__dadd_rz, double, __ocml_add_rtz_f64)
CASS_ROUNDED_2(__dsub_rd, double, __ocml_sub_rtn_f64)
CASS_ROUNDED_2(__dsub_ru, double, __ocml_sub_rtp_f64)
CASS_ROUNDED_2(__dsub_rz, double, __ocml_sub_rtz_f64)
CASS_ROUNDED_2(__dmul_rd, double, __ocml_mul_rtn_f64)
CASS_ROUNDED_2(__dmul_ru, double, __ocml_mul_rtp_f64)
CASS_ROUNDED_2(__dmul_rz, double, __ocml_mul_rtz_f64)
CASS_ROUNDED_3(__fma_rd, double, __ocml_fma_rtn_f64)
CASS_ROUNDED_3(__fma_ru, double, __ocml_fma_rtp_f64)
CASS_ROUNDED_3(__fma_rz, double, __ocml_fma_rtz_f64)

//// build macros of ported code
// Code with a HIP branch takes the width of a wave from its build.
#ifndef ROCM_WAVEFRONT_SIZE
#define ROCM_WAVEFRONT_SIZE 32
#endif

//// BLAS math modes
// A math mode permits faster arithmetic and asks for none; the later releases' names.
#include <hipblas/hipblas.h>
enum hipblasMath_t {
  HIPBLAS_DEFAULT_MATH = 0,
  HIPBLAS_TENSOR_OP_MATH = 1,
  HIPBLAS_PEDANTIC_MATH = 2,
  HIPBLAS_TF32_TENSOR_OP_MATH = 3,
};
static inline hipblasStatus_t hipblasSetMathMode(hipblasHandle_t, hipblasMath_t) {
  return HIPBLAS_STATUS_SUCCESS;
}

//// flags of event waits
// The only way of waiting that HIP has; the later releases' name.
#define hipEventWaitDefault 0

//// byte order
static __host__ __device__ inline unsigned short __nv_bswap16(unsigned short value) {
  return __builtin_bswap16(value);
}
static __host__ __device__ inline unsigned int __nv_bswap32(unsigned int value) {
  return __builtin_bswap32(value);
}
static __host__ __device__ inline unsigned long long __nv_bswap64(unsigned long long value) {
  return __builtin_bswap64(value);
}
