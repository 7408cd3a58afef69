// The device prelude: snippets of CUDA C, each printed only where a kernel uses it.
#include "emit/cuda_c/prelude.hpp"

#include <iterator>
#include <vector>

namespace fuseline::cuda_c {
namespace {

struct Snippet {
  std::string_view name;
  std::string_view text;
};

constexpr std::string_view always = R"(typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16, f16, bf16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
typedef double f64;
#define FN __device__ __forceinline__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#if __CUDA_ARCH__ >= 900
// Not __restrict__: such loads count as invariant and could move in front of await_inputs().
#define IN(T) const T*
#else
#define IN(T) const T* __restrict__
#endif
#define OUT(T) T*
)";

// A snippet stands behind those that it uses.
constexpr Snippet snippets[] = {
    {"KERNEL_LIMITED", R"(#define KERNEL_LIMITED(threads, blocks) \
  extern "C" __global__ void __launch_bounds__(threads, blocks)
)"},
    {"SHARED", R"(#define SHARED(T, name, n) __shared__ __align__(16) T name[n]
)"},
    {"block_id", "FN i64 block_id() { return blockIdx.x; }\n"},
    {"block_count", "FN i64 block_count() { return gridDim.x; }\n"},
    {"thread_id", "FN i32 thread_id() { return (i32)threadIdx.x; }\n"},
    {"thread_count", "FN i32 thread_count() { return (i32)blockDim.x; }\n"},
    {"await_inputs", R"(FN void await_inputs() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
)"},
    {"barrier", "FN void barrier() { __syncthreads(); }\n"},
    {"fence", "FN void fence() { __threadfence(); }\n"},
    {"chunk", R"(template <int bytes> struct chunk;
template <> struct chunk<16> { typedef uint4 type; };
template <> struct chunk<8> { typedef uint2 type; };
template <> struct chunk<4> { typedef u32 type; };
template <> struct chunk<2> { typedef u16 type; };
template <> struct chunk<1> { typedef u8 type; };
)"},
    {"fetch", R"(template <int align, int bytes, bool stream>
FN void fetch(u8* to, const u8* from) {
  constexpr int whole = bytes / align, rest = bytes % align;
  if constexpr (whole > 0) {
    typedef typename chunk<align>::type word;
    word words[whole];
#pragma unroll
    for (int i = 0; i < whole; ++i)
      words[i] = stream ? __ldcs((const word*)from + i) : ((const word*)from)[i];
    memcpy(to, words, whole * align);
  }
  if constexpr (rest > 0) fetch<align / 2, rest, stream>(to + whole * align, from + whole * align);
}
)"},
    {"put", R"(template <int align, int bytes, bool stream>
FN void put(u8* to, const u8* from) {
  constexpr int whole = bytes / align, rest = bytes % align;
  if constexpr (whole > 0) {
    typedef typename chunk<align>::type word;
    word words[whole];
    memcpy(words, from, whole * align);
#pragma unroll
    for (int i = 0; i < whole; ++i) {
      if constexpr (stream)
        __stcs((word*)to + i, words[i]);
      else
        ((word*)to)[i] = words[i];
    }
  }
  if constexpr (rest > 0) put<align / 2, rest, stream>(to + whole * align, from + whole * align);
}
)"},
    // Memory that the kernel writes is touched as words and as elements; the empty asm keeps the
    // compiler from believing that these cannot meet.
    {"load", R"(template <int align, class T, int n> FN void load(T (&to)[n], const T* from) {
  fetch<(align < 16 ? align : 16), n * sizeof(T), false>((u8*)to, (const u8*)from);
}
template <int align, class T, int n> FN void load(T (&to)[n], T* from) {
  asm volatile("" ::: "memory");
  fetch<(align < 16 ? align : 16), n * sizeof(T), false>((u8*)to, (const u8*)from);
}
)"},
    {"load_stream",
     R"(template <int align, class T, int n> FN void load_stream(T (&to)[n], const T* from) {
  fetch<(align < 16 ? align : 16), n * sizeof(T), true>((u8*)to, (const u8*)from);
}
template <int align, class T, int n> FN void load_stream(T (&to)[n], T* from) {
  asm volatile("" ::: "memory");
  fetch<(align < 16 ? align : 16), n * sizeof(T), true>((u8*)to, (const u8*)from);
}
template <class T> FN T load_stream(const T* from) { return __ldcs(from); }
)"},
    {"store", R"(template <int align, class T, int n> FN void store(T* to, const T (&from)[n]) {
  put<(align < 16 ? align : 16), n * sizeof(T), false>((u8*)to, (const u8*)from);
  asm volatile("" ::: "memory");
}
)"},
    {"store_stream",
     R"(template <int align, class T, int n> FN void store_stream(T* to, const T (&from)[n]) {
  put<(align < 16 ? align : 16), n * sizeof(T), true>((u8*)to, (const u8*)from);
  asm volatile("" ::: "memory");
}
template <class T> FN void store_stream(T* to, T value) { __stcs(to, value); }
)"},
    {"atomic_add",
     R"(template <class T> FN T atomic_add(T* to, T value) { return atomicAdd(to, value); }
)"},
    {"shuffle_down", R"(template <class T> FN T shuffle_down(T value, i32 distance) {
  if constexpr (sizeof(T) < 4)
    return (T)__shfl_down_sync(0xffffffffu, (i32)value, (u32)distance);
  else
    return __shfl_down_sync(0xffffffffu, value, (u32)distance);
}
)"},
    {"warp_sum", R"(FN i32 warp_sum(i32 value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, value);
#else
  for (u32 distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
#endif
}
)"},
    {"ballot_count",
     R"(FN i32 ballot_count(bool holds) { return __popc(__ballot_sync(0xffffffffu, holds)); }
)"},
    {"min_nan", R"(template <class T> FN T min_nan(T a, T b) { return a < b || a != a ? a : b; }
)"},
    {"max_nan", R"(template <class T> FN T max_nan(T a, T b) { return a > b || a != a ? a : b; }
)"},
    {"as_f32", R"(FN f32 as_f32(u32 x) { return __uint_as_float(x); }
FN f32 as_f32(i32 x) { return __int_as_float(x); }
)"},
    {"as_f64", R"(FN f64 as_f64(u64 x) { return __longlong_as_double((i64)x); }
FN f64 as_f64(i64 x) { return __longlong_as_double(x); }
)"},
    {"as_u32", "FN u32 as_u32(f32 x) { return __float_as_uint(x); }\n"},
    {"as_i32", "FN i32 as_i32(f32 x) { return __float_as_int(x); }\n"},
    {"as_u64", "FN u64 as_u64(f64 x) { return (u64)__double_as_longlong(x); }\n"},
    {"as_i64", "FN i64 as_i64(f64 x) { return __double_as_longlong(x); }\n"},
    // cvt.rzi of f32 to 32 bits clamps and takes NaN to 0; the other pairs need comparisons.
    {"saturate", R"(template <class T> FN T saturate(f32 x) {
  constexpr bool has_sign = (T)-1 < (T)0;
  if constexpr (sizeof(T) < 4) {
    constexpr int bits = 8 * sizeof(T) - has_sign;
    constexpr i32 low = has_sign ? -(1 << bits) : 0, high = (1 << bits) - 1;
    i32 y = __float2int_rz(x);
    return (T)(y < low ? low : y > high ? high : y);
  } else if constexpr (sizeof(T) == 4) {
    return has_sign ? (T)__float2int_rz(x) : (T)__float2uint_rz(x);
  } else {
    return x != x ? (T)0 : has_sign ? (T)__float2ll_rz(x) : (T)__float2ull_rz(x);
  }
}
template <class T> FN T saturate(f64 x) {
  constexpr bool has_sign = (T)-1 < (T)0;
  if (x != x) return (T)0;
  if constexpr (sizeof(T) < 4) {
    constexpr int bits = 8 * sizeof(T) - has_sign;
    constexpr i32 low = has_sign ? -(1 << bits) : 0, high = (1 << bits) - 1;
    i32 y = __double2int_rz(x);
    return (T)(y < low ? low : y > high ? high : y);
  } else if constexpr (sizeof(T) == 4) {
    return has_sign ? (T)__double2int_rz(x) : (T)__double2uint_rz(x);
  } else {
    return has_sign ? (T)__double2ll_rz(x) : (T)__double2ull_rz(x);
  }
}
)"},
    {"from_f16", R"(FN f32 from_f16(f16 x) {
  f32 y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
)"},
    {"to_f16", R"(FN f16 to_f16(f32 x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
)"},
    {"from_bf16", "FN f32 from_bf16(bf16 x) { return __uint_as_float((u32)x << 16); }\n"},
    {"to_bf16", R"(FN bf16 to_bf16(f32 x) {
#if __CUDA_ARCH__ >= 800
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
#else
  u32 bits = __float_as_uint(x);
  if (x != x) return (bf16)0x7fff;
  return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}
)"},
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

}  // namespace

std::string device_prelude(std::string_view body) {
  constexpr std::size_t count = std::size(snippets);
  std::vector<bool> used(count);
  for (std::size_t i = count; i-- > 0;) {
    used[i] = mentions(body, snippets[i].name);
    for (std::size_t user = i + 1; user < count && !used[i]; ++user)
      used[i] = used[user] && mentions(snippets[user].text, snippets[i].name);
  }
  std::string text(always);
  for (std::size_t i = 0; i < count; ++i)
    if (used[i]) text += snippets[i].text;
  return text;
}

}  // namespace fuseline::cuda_c
