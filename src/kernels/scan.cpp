// Prefixes: totals of chunks, their prefixes, then every chunk from where it starts. Short rows
// take the last step alone. Chunks depend on the row's length only, and so do the roundings.
#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "fuse/loop_ops.hpp"
#include "graph/kernel_ops.hpp"
#include "graph/op_table.hpp"
#include "kernels/builders.hpp"
#include "kernels/item_kernel.hpp"

namespace fuseline::kernels {
namespace {

constexpr std::int64_t least_chunk = 64;
constexpr std::int64_t cpu_chunk = 16384;

struct Scan {
  const Operand& x;
  const Operand& result;
  std::size_t axis;
  Intrinsic combine;
  bool exclusive, reverse;
  const Target& target;
  DType sums;  // the type in which it accumulates
  std::int64_t chunk = 0, chunks = 0;

  std::int64_t extent() const { return x.shape[axis]; }
  std::int64_t rows() const { return AxisView(x.shape, axis).rows(); }
  std::string name(const char* part) const {
    return "fl_scan_" + std::string(part) + "_" + std::string(name_of(x.dtype));
  }
};

// Chunks grow with the root of the row, so that no step is long.
void choose_chunks(Scan& s) {
  std::int64_t n = s.extent(), chunk = cpu_chunk;
  if (is_gpu(s.target))
    chunk = std::max(least_chunk, static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))));
  s.chunk = std::min(chunk, n);
  s.chunks = ceil_of(n, s.chunk);
}

Id neutral(loop::Builder& b, const Scan& s) {
  Number number = identity_of(s.combine, s.sums);
  if (is_float(s.sums)) return b.real(s.sums, number.d);
  return b.integer(s.sums, number.i);
}

// The loop over the elements of one chunk, in the order of the scan.
void each_of_chunk(ItemKernel& k, const Scan& s, Id chunk, Rows& in,
                   const std::function<void(Id place, Id offset)>& body) {
  loop::Builder& b = k.builder();
  Id size = k.size("chunk", s.chunk), extent = k.size("extent", s.extent());
  Id first = b.mul(chunk, size), one = k.number(1);
  b.for_range(first, b.min(b.add(first, size), extent), one, [&](Id i) {
    Id place = s.reverse ? b.sub(b.sub(extent, one), i) : i;
    body(place, in.at(place));
  });
}

Launch chunk_totals(const Scan& s) {
  ItemKernel k(s.name("totals"), s.target);
  loop::Builder& b = k.builder();
  int in = k.read("in", s.x.dtype, operand_argument(0));
  int totals = k.write("totals", s.sums, scratch_argument(0));
  Rows row(k, "in", s.x, s.axis);
  Id chunks = k.size("chunks", s.chunks);
  k.each_item(s.rows() * s.chunks, [&](Id item) {
    row.start(b.div(item, chunks));
    Id total = b.var(neutral(b, s));
    each_of_chunk(k, s, b.rem(item, chunks), row, [&](Id, Id at) {
      b.set(total, b.compute(s.combine, {b.get(total), b.load(in, at)}));
    });
    b.store(totals, item, b.get(total));
  });
  return k.finish();
}

Launch totals_before(const Scan& s) {
  ItemKernel k(s.name("before"), s.target);
  loop::Builder& b = k.builder();
  int totals = k.write("totals", s.sums, scratch_argument(0));
  Id chunks = k.size("chunks", s.chunks);
  k.each_item(s.rows(), [&](Id row) {
    Id total = b.var(neutral(b, s)), first = b.mul(row, chunks);
    b.for_range(first, b.add(first, chunks), k.number(1), [&](Id i) {
      Id before = b.get(total);
      b.set(total, b.compute(s.combine, {before, b.load(totals, i)}));
      b.store(totals, i, before);
    });
  });
  return k.finish();
}

Launch chunk_prefixes(const Scan& s) {
  ItemKernel k(s.name(s.chunks > 1 ? "chunks" : "rows"), s.target);
  loop::Builder& b = k.builder();
  int in = k.read("in", s.x.dtype, operand_argument(0));
  int totals = s.chunks > 1 ? k.read("totals", s.sums, scratch_argument(0)) : -1;
  int out = k.write("out", s.x.dtype, result_argument);
  Rows row(k, "in", s.x, s.axis), out_row(k, "out", s.result, s.axis);
  Id chunks = k.size("chunks", s.chunks);
  k.each_item(s.rows() * s.chunks, [&](Id item) {
    row.start(b.div(item, chunks));
    out_row.start(b.div(item, chunks));
    Id total = b.var(totals >= 0 ? b.load(totals, item) : neutral(b, s));
    each_of_chunk(k, s, b.rem(item, chunks), row, [&](Id place, Id at) {
      Id before = b.get(total);
      Id after = b.compute(s.combine, {before, b.load(in, at)});
      b.set(total, after);
      b.store(out, out_row.at(place), s.exclusive ? before : after);
    });
  });
  return k.finish();
}

}  // namespace

Schedule scan_schedule(const Request& request, const Target& target) {
  const Attributes& a = request.attributes;
  const Operand& x = request.operands[0];
  Scan s{x,
         request.result,
         static_cast<std::size_t>(a.integer("axis")),
         *combine_of(a),
         a.integer_or("exclusive", 0) != 0,
         a.integer_or("reverse", 0) != 0,
         target,
         accumulator_type(x.dtype)};
  choose_chunks(s);
  Schedule schedule;
  if (s.chunks > 1) {
    schedule.scratch_bytes.push_back(s.rows() * s.chunks *
                                     static_cast<std::int64_t>(size_of(s.sums)));
    schedule.launches = {chunk_totals(s), totals_before(s)};
  }
  schedule.launches.push_back(chunk_prefixes(s));
  return schedule;
}

}  // namespace fuseline::kernels
