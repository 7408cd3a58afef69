// Stable merge sort of indices: runs are ranked, then merged pass by pass. Every item of a merge
// finds by binary search where its part of the result begins in both runs, so all passes are
// parallel and read and write each element once.
#include <algorithm>
#include <bit>

#include "fuse/loop_ops.hpp"
#include "graph/kernel_ops.hpp"
#include "kernels/builders.hpp"
#include "kernels/item_kernel.hpp"

namespace fuseline::kernels {
namespace {

constexpr std::int64_t run_length = 16;
constexpr std::int64_t cpu_chunk = 4096;  // results of one item of a merge
constexpr std::int64_t gpu_chunk = 8;

struct Sorting {
  const Operand& keys;
  Argument from;
  std::size_t axis;
  bool descending;
  const Target& target;
  Operand order;  // of the keys' shape, dense

  std::int64_t extent() const { return keys.shape[axis]; }
  std::int64_t rows() const { return AxisView(keys.shape, axis).rows(); }
  std::string name(const char* part) const {
    return "fl_sort_" + std::string(part) + (descending ? "_down_" : "_up_") +
           std::string(name_of(keys.dtype));
  }
};

// NaN above every number.
Id is_before(loop::Builder& b, Id x, Id y, bool descending) {
  if (descending) std::swap(x, y);
  Id less = b.lt(x, y);
  if (!is_float(b.type_of(x).dtype)) return less;
  Id y_nan = b.compute(Intrinsic::ne, {y, y}), x_number = b.eq(x, x);
  return b.compute(Intrinsic::bit_or, {less, b.compute(Intrinsic::bit_and, {y_nan, x_number})});
}

Id both(loop::Builder& b, Id x, Id y) { return b.compute(Intrinsic::bit_and, {x, y}); }
Id either(loop::Builder& b, Id x, Id y) { return b.compute(Intrinsic::bit_or, {x, y}); }
Id negation(loop::Builder& b, Id x) { return b.compute(Intrinsic::bit_not, {x}); }

// The place of each key in its run: how many come before it.
Launch rank_runs(const Sorting& s, Argument to) {
  ItemKernel k(s.name("runs"), s.target);
  loop::Builder& b = k.builder();
  int keys = k.read("keys", s.keys.dtype, s.from);
  int out = k.write("order", DType::i64, to);
  Rows in_row(k, "keys", s.keys, s.axis), out_row(k, "order", s.order, s.axis);
  std::int64_t runs = ceil_of(s.extent(), run_length);
  Id extent = k.size("extent", s.extent()), run_count = k.size("runs", runs);
  k.each_item(s.rows() * runs, [&](Id item) {
    in_row.start(b.div(item, run_count));
    out_row.start(b.div(item, run_count));
    Id first = b.mul(b.rem(item, run_count), k.number(run_length));
    Id end = b.min(b.add(first, k.number(run_length)), extent), one = k.number(1);
    b.for_range(first, end, one, [&](Id i) {
      Id own = b.load(keys, in_row.at(i));
      Id rank = b.var(first);
      b.for_range(first, end, one, [&](Id j) {
        Id other = b.load(keys, in_row.at(j));
        Id earlier = both(b, b.lt(j, i), negation(b, is_before(b, own, other, s.descending)));
        Id counts = either(b, is_before(b, other, own, s.descending), earlier);
        b.set(rank, b.add(b.get(rank), b.cast(DType::i64, counts)));
      });
      b.store(out, out_row.at(b.get(rank)), i);
    });
  });
  return k.finish();
}

// One pair of neighbouring runs, as an item of a merge sees it.
class Merge {
 public:
  Merge(ItemKernel& k, const Sorting& s, int keys, int from, Rows& in_row, Rows& order_row)
      : k_(k), b_(k.builder()), s_(s), keys_(keys), from_(from), in_(in_row), order_(order_row) {}

  void open(Id first, Id extent, Id width) {
    begin = b_.mul(b_.div(first, b_.mul(width, k_.number(2))), b_.mul(width, k_.number(2)));
    left = b_.min(width, b_.sub(extent, begin));
    right = b_.min(width, b_.sub(b_.sub(extent, begin), left));
    middle = b_.add(begin, left);
  }

  Id index(Id place) { return b_.load(from_, order_.at(place)); }
  Id key(Id index) { return b_.load(keys_, in_.at(index)); }

  // How many of the first `done` results come from the left run.
  Id split(Id done, Id steps) {
    Id low = b_.var(b_.max(b_.sub(done, right), k_.number(0)));
    Id high = b_.var(b_.min(done, left));
    b_.for_range(k_.number(0), steps, k_.number(1), [&](Id) {
      b_.if_then(b_.lt(b_.get(low), b_.get(high)), [&] {
        Id mid = b_.div(b_.add(b_.get(low), b_.get(high)), k_.number(2));
        Id l = key(index(b_.add(begin, mid)));
        Id r = key(index(b_.add(middle, b_.sub(b_.sub(done, k_.number(1)), mid))));
        b_.if_then(
            is_before(b_, r, l, s_.descending), [&] { b_.set(high, mid); },
            [&] { b_.set(low, b_.add(mid, k_.number(1))); });
      });
    });
    return b_.get(low);
  }

  Id begin = 0, left = 0, right = 0, middle = 0;

 private:
  ItemKernel& k_;
  loop::Builder& b_;
  const Sorting& s_;
  int keys_, from_;
  Rows &in_, &order_;
};

// A run's next element while it is merged.
struct Cursor {
  Id place, index, key;  // variables
};

void merge_part(ItemKernel& k, Merge& m, const Sorting& s, int out, Rows& order_row, Id first,
                Id count, Id steps) {
  loop::Builder& b = k.builder();
  Id one = k.number(1), done = b.sub(first, m.begin);
  Id taken = m.split(done, steps);
  Id left_end = m.middle, right_end = b.add(m.middle, m.right);
  // Past the end of a run its last element is looked at and not taken.
  auto open = [&](Id at, Id end) {
    Id index = m.index(b.min(at, b.sub(end, one)));
    return Cursor{b.var(at), b.var(index), b.var(m.key(index))};
  };
  auto advance = [&](Cursor& c, Id end) {
    Id next = b.add(b.get(c.place), one);
    b.set(c.place, next);
    b.if_then(b.lt(next, end), [&] {
      Id index = m.index(next);
      b.set(c.index, index);
      b.set(c.key, m.key(index));
    });
  };
  Cursor l = open(b.add(m.begin, taken), left_end);
  Cursor r = open(b.add(m.middle, b.sub(done, taken)), right_end);
  b.for_range(first, b.add(first, count), one, [&](Id place) {
    Id right_open = b.lt(b.get(r.place), right_end), left_open = b.lt(b.get(l.place), left_end);
    Id right_wins = is_before(b, b.get(r.key), b.get(l.key), s.descending);
    Id takes_right = both(b, right_open, either(b, right_wins, negation(b, left_open)));
    b.store(out, order_row.at(place), b.select(takes_right, b.get(r.index), b.get(l.index)));
    b.if_then(
        takes_right, [&] { advance(r, right_end); }, [&] { advance(l, left_end); });
  });
}

Launch merge_runs(const Sorting& s, Argument from, Argument to, std::int64_t width) {
  ItemKernel k(s.name("merge"), s.target);
  loop::Builder& b = k.builder();
  int keys = k.read("keys", s.keys.dtype, s.from);
  int in = k.read("runs", DType::i64, from);
  int out = k.write("order", DType::i64, to);
  Rows in_row(k, "keys", s.keys, s.axis), order_row(k, "order", s.order, s.axis);
  std::int64_t part = std::min(2 * width, is_gpu(s.target) ? gpu_chunk : cpu_chunk);
  std::int64_t parts = ceil_of(s.extent(), part);
  Id extent = k.size("extent", s.extent()), runs = k.size("width", width);
  Id size = k.size("part", part), part_count = k.size("parts", parts);
  Id steps = k.size("steps", std::bit_width(static_cast<std::uint64_t>(width)) + 1);
  k.each_item(s.rows() * parts, [&](Id item) {
    in_row.start(b.div(item, part_count));
    order_row.start(b.div(item, part_count));
    Id first = b.mul(b.rem(item, part_count), size);
    Merge m(k, s, keys, in, in_row, order_row);
    m.open(first, extent, runs);
    Id end = b.min(b.add(first, size), b.add(m.middle, m.right));
    merge_part(k, m, s, out, order_row, first, b.sub(end, first), steps);
  });
  return k.finish();
}

}  // namespace

void add_sort(Schedule& schedule, const Operand& keys, Argument from, Argument to, std::size_t axis,
              bool descending, const Target& target) {
  Operand order{DType::i64, keys.shape, dense_strides(keys.shape)};
  Sorting s{keys, from, axis, descending, target, std::move(order)};
  int passes = 0;
  for (std::int64_t width = run_length; width < s.extent(); width *= 2) ++passes;
  Argument other = scratch_argument(schedule.scratch_bytes.size());
  if (passes > 0)
    schedule.scratch_bytes.push_back(element_count(keys.shape) *
                                     static_cast<std::int64_t>(sizeof(std::int64_t)));
  // The last pass ends in `to`.
  Argument now = passes % 2 == 0 ? to : other, next = passes % 2 == 0 ? other : to;
  schedule.launches.push_back(rank_runs(s, now));
  for (std::int64_t width = run_length; width < s.extent(); width *= 2) {
    schedule.launches.push_back(merge_runs(s, now, next, width));
    std::swap(now, next);
  }
}

Schedule sort_schedule(const Request& request, const Target& target) {
  Schedule schedule;
  add_sort(schedule, request.operands[0], operand_argument(0), result_argument,
           static_cast<std::size_t>(request.attributes.integer("axis")),
           request.attributes.integer_or("descending", 0) != 0, target);
  return schedule;
}

}  // namespace fuseline::kernels
