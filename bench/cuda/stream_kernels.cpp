// Kernels that only move bytes.
#include "cuda/stream_kernels.hpp"

#include <fmt/format.h>

namespace fuseline::bench {
namespace {

// A block works on threads x groups packets of the output. "apart": neighbouring threads read
// neighbouring packets; otherwise each thread reads its own `reads` packets in a row, as a kernel
// does that needs all three bytes of a pixel. All loads come before the first use.
constexpr const char* source_text = R"(
template <bool hint>
__device__ uint4 take(const uint4* p) { if (hint) return __ldcs(p); return *p; }
template <bool hint>
__device__ void put(uint4* p, uint4 v) { if (hint) __stcs(p, v); else *p = v; }
__device__ uint4 mix(uint4 a, uint4 b) {
  return make_uint4(a.x ^ b.y, a.y ^ b.z, a.z ^ b.w, a.w ^ b.x);
}
template <int reads, int writes, int threads, int groups, bool apart, bool hint>
__device__ void stream(const uint4* from, uint4* to, long long n) {
  uint4 v[groups][reads];
  long long base = (long long)blockIdx.x * (threads * groups);
  #pragma unroll
  for (int g = 0; g < groups; ++g) {
    long long first = base + g * threads, left = n - first;
    if (threadIdx.x < left) {
      long long width = left < threads ? left : threads;
      #pragma unroll
      for (int r = 0; r < reads; ++r)
        v[g][r] = take<hint>(from + (apart ? reads * first + r * width + threadIdx.x
                                           : reads * (first + threadIdx.x) + r));
    }
  }
  #pragma unroll
  for (int g = 0; g < groups; ++g) {
    long long at = base + g * threads + threadIdx.x;
    if (at >= n) continue;
    uint4 x = v[g][0];
    #pragma unroll
    for (int r = 1; r < reads; ++r) x = mix(x, v[g][r]);
    if (writes)
      put<hint>(to + at, x);
    else if ((x.x ^ x.y ^ x.z ^ x.w) == 0x12345679u)
      *to = x;
  }
}
)";

struct Variant {
  int threads, groups;
  bool apart, hint;
};

std::vector<Variant> variants(int reads) {
  std::vector<Variant> all;
  for (int threads : {128, 256, 512, 1024})
    for (int groups : {1, 2, 4})
      for (bool apart : {false, true})
        for (bool hint : {false, true})
          if (reads > 1 || apart) all.push_back({threads, groups, apart, hint});
  return all;
}

std::string symbol(int reads, int writes, const Variant& v) {
  return fmt::format("stream_{}_{}_{}_{}_{}_{}", reads, writes, v.threads, v.groups, int{v.apart},
                     int{v.hint});
}

std::string source(int reads, int writes) {
  std::string text = source_text;
  for (const Variant& v : variants(reads))
    text += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}) {}(const uint4* from, uint4* to, "
        "long long n) {{\n  stream<{}, {}, {}, {}, {}, {}>(from, to, n);\n}}\n",
        v.threads, symbol(reads, writes, v), reads, writes, v.threads, v.groups, v.apart, v.hint);
  return text;
}

std::uint64_t argument(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

Row stream_row(Session& session, int reads, int writes, std::int64_t packets, const Variant& v,
               const std::vector<StreamUnit>& units) {
  HandKernel kernel = session.kernel(symbol(reads, writes, v));
  std::int64_t tile = std::int64_t{v.threads} * v.groups;
  std::int64_t blocks = (packets + tile - 1) / tile;
  Recorder recorder(session);
  for (const StreamUnit& unit : units) {
    std::uint64_t arguments[] = {argument(unit.from), argument(unit.to),
                                 static_cast<std::uint64_t>(packets)};
    recorder.launch(kernel.function, blocks, v.threads, arguments);
  }
  Row row;
  row.name = fmt::format("stream {}:{}, {} x {}, {}{}", reads, writes, v.threads, v.groups,
                         v.apart ? "coalesced" : "packed", v.hint ? ", hints" : "");
  row.bytes = 16.0 * static_cast<double>(packets) * (reads + writes);
  row.units = static_cast<int>(units.size());
  row.replay = [recorded = recorder.finish()](int n) { recorded->replay(n); };
  row.facts = {kernel.registers, kernel.spill_bytes, v.threads, v.groups, blocks};
  return row;
}

}  // namespace

std::vector<Row> stream_rows(Session& session, const std::string& family, int reads, int writes,
                             std::int64_t packets, const std::vector<StreamUnit>& units) {
  session.compile(source(reads, writes), fmt::format("stream_{}_{}", reads, writes));
  std::vector<Row> rows;
  for (const Variant& v : variants(reads)) {
    rows.push_back(stream_row(session, reads, writes, packets, v, units));
    rows.back().family = family;
  }
  return rows;
}

std::vector<Row> copy_rows(Session& session, const std::string& family, double bytes,
                           const std::vector<StreamUnit>& units) {
  auto half = static_cast<std::size_t>(bytes / 2);
  Recorder recorder(session);
  for (const StreamUnit& unit : units) recorder.copy(unit.to, unit.from, half);
  Row recorded, queued;
  recorded.name = "memcpy, recorded";
  recorded.replay = [graph = recorder.finish()](int n) { graph->replay(n); };
  queued.name = "memcpy, launched in a stream";
  queued.replay = [units, half, stream = session.stream()](int n) {
    for (int i = 0; i < n; ++i)
      for (const StreamUnit& unit : units)
        FUSELINE_CUDA(copy_on_device(argument(unit.to), argument(unit.from), half, stream));
  };
  std::vector<Row> rows = {std::move(recorded), std::move(queued)};
  for (Row& row : rows) {
    row.family = family;
    row.bytes = bytes;
    row.units = static_cast<int>(units.size());
  }
  return rows;
}

}  // namespace fuseline::bench
