// Rows placed at indices, equal indices in the order of the updates. CPUs give every item a range
// of the result and let it look at all indices; CUDA sorts the indices, so that equal ones are
// neighbours and one thread combines them. Distinct indices need neither.
#include <algorithm>

#include "base/fail.hpp"
#include "fuse/loop_ops.hpp"
#include "graph/kernel_ops.hpp"
#include "graph/op_table.hpp"
#include "kernels/builders.hpp"
#include "kernels/item_kernel.hpp"

namespace fuseline::kernels {
namespace {

struct Scatter {
  const Operand &data, &indices, &updates, &result;
  std::optional<Intrinsic> combine;
  const Target& target;

  std::int64_t rows() const { return result.shape[0]; }
  std::int64_t columns() const { return result.shape[1]; }
  std::int64_t count() const { return indices.shape[0]; }
  DType dtype() const { return data.dtype; }
  std::string name(const char* part) const {
    return "fl_scatter_" + std::string(part) + "_" + std::string(name_of(dtype()));
  }
};

Launch copy_data(const Scatter& s) {
  ItemKernel k(s.name("copy"), s.target);
  loop::Builder& b = k.builder();
  int data = k.read("data", s.dtype(), operand_argument(0));
  int out = k.write("out", s.dtype(), result_argument);
  k.each_element(s.rows() * s.columns(),
                 [&](Id i) { b.store(out, i, b.load(data, offset_of(k, "data", s.data, i))); });
  return k.finish();
}

Id combined(loop::Builder& b, const Scatter& s, Id old, Id update) {
  return s.combine ? b.compute(*s.combine, {old, update}) : update;
}

// The buffers and sizes that every kernel of this operation has.
struct Body {
  Body(ItemKernel& kernel, const Scatter& scatter)
      : k(kernel),
        b(kernel.builder()),
        s(scatter),
        indices(kernel.read("indices", DType::i64, operand_argument(1))),
        updates(kernel.read("updates", scatter.dtype(), operand_argument(2))),
        columns(kernel.size("columns", scatter.columns())),
        rows(kernel.size("rows", scatter.rows())),
        index_step(kernel.size("index_step", scatter.indices.strides[0])),
        update_step(kernel.size("update_step", scatter.updates.strides[0])),
        column_step(kernel.size("column_step", scatter.updates.strides[1])) {}

  Id index(Id m) { return b.load(indices, b.mul(m, index_step)); }
  Id update(Id m, Id column) {
    return b.load(updates, b.add(b.mul(m, update_step), b.mul(column, column_step)));
  }
  Id place(Id row, Id column) { return b.add(b.mul(row, columns), column); }
  Id is_row(Id row, Id first, Id end) {
    return b.compute(Intrinsic::bit_and, {b.le(first, row), b.lt(row, end)});
  }

  ItemKernel& k;
  loop::Builder& b;
  const Scatter& s;
  int indices, updates;
  Id columns, rows, index_step, update_step, column_step;
};

Launch place_distinct(const Scatter& s) {
  ItemKernel k(s.name("distinct"), s.target);
  Body body(k, s);
  loop::Builder& b = k.builder();
  int out = k.write("out", s.dtype(), result_argument);
  k.each_element(s.count() * s.columns(), [&](Id i) {
    Id m = b.div(i, body.columns), column = b.rem(i, body.columns), row = body.index(m);
    b.if_then(body.is_row(row, k.number(0), body.rows), [&] {
      Id at = body.place(row, column), update = body.update(m, column);
      b.store(out, at, s.combine ? combined(b, s, b.load(out, at), update) : update);
    });
  });
  return k.finish();
}

// ---- CPUs

Launch place_by_range(const Scatter& s, bool wide) {
  ItemKernel k(s.name("range"), s.target);
  Body body(k, s);
  loop::Builder& b = k.builder();
  int data = k.read("data", s.dtype(), operand_argument(0));
  int out = k.write("out", s.dtype(), result_argument);
  int sums = wide ? k.write("sums", DType::f32, scratch_argument(0)) : out;
  std::int64_t items = std::min<std::int64_t>(s.rows(), s.target.processors);
  Id part = k.size("part", ceil_of(s.rows(), items)), count = k.size("count", s.count());
  Id one = k.number(1), zero = k.number(0);
  k.each_item(items, [&](Id item) {
    Id first = b.min(b.mul(item, part), body.rows), end = b.min(b.add(first, part), body.rows);
    Id begin = b.mul(first, body.columns), stop = b.mul(end, body.columns);
    b.for_range(begin, stop, one,
                [&](Id i) { b.store(sums, i, b.load(data, offset_of(k, "data", s.data, i))); });
    b.for_range(zero, count, one, [&](Id m) {
      Id row = body.index(m);
      b.if_then(body.is_row(row, first, end), [&] {
        b.for_range(zero, body.columns, one, [&](Id column) {
          Id at = body.place(row, column);
          b.store(sums, at, combined(b, s, b.load(sums, at), body.update(m, column)));
        });
      });
    });
    if (wide) b.for_range(begin, stop, one, [&](Id i) { b.store(out, i, b.load(sums, i)); });
  });
  return k.finish();
}

// ---- CUDA

// The place behind the last of the indices, in their order, that are not above `wanted`.
Id upper_bound(Body& body, int order, Id wanted, Id start, Id count, Id steps) {
  loop::Builder& b = body.b;
  Id low = b.var(start), high = b.var(count);
  b.for_range(body.k.number(0), steps, body.k.number(1), [&](Id) {
    b.if_then(b.lt(b.get(low), b.get(high)), [&] {
      Id middle = b.div(b.add(b.get(low), b.get(high)), body.k.number(2));
      b.if_then(
          b.le(body.index(b.load(order, middle)), wanted),
          [&] { b.set(low, b.add(middle, body.k.number(1))); }, [&] { b.set(high, middle); });
    });
  });
  return b.get(low);
}

Launch place_sorted(const Scatter& s, Argument sorted) {
  ItemKernel k(s.name("sorted"), s.target);
  Body body(k, s);
  loop::Builder& b = k.builder();
  int order = k.read("order", DType::i64, sorted);
  int out = k.write("out", s.dtype(), result_argument);
  Id count = k.size("count", s.count()), one = k.number(1);
  Id steps = k.size("steps", std::bit_width(static_cast<std::uint64_t>(s.count())) + 1);
  k.each_item(s.count() * s.columns(), [&](Id item) {
    Id i = b.div(item, body.columns), column = b.rem(item, body.columns);
    Id row = body.index(b.load(order, i));
    Id before = body.index(b.load(order, b.max(b.sub(i, one), k.number(0))));
    Id is_first = b.compute(Intrinsic::bit_or,
                            {b.eq(i, k.number(0)), b.compute(Intrinsic::ne, {before, row})});
    Id counts = b.compute(Intrinsic::bit_and, {is_first, body.is_row(row, k.number(0), body.rows)});
    b.if_then(counts, [&] {
      Id at = body.place(row, column), total = b.var(b.load(out, at));
      Id end = upper_bound(body, order, row, i, count, steps);
      b.for_range(i, end, one, [&](Id j) {
        b.set(total, combined(b, s, b.get(total), body.update(b.load(order, j), column)));
      });
      b.store(out, at, b.get(total));
    });
  });
  return k.finish();
}

}  // namespace

Schedule scatter_schedule(const Request& request, const Target& target) {
  const auto& operands = request.operands;
  Scatter s{operands[0], operands[1], operands[2], request.result, combine_of(request.attributes),
            target};
  Schedule schedule;
  if (s.count() == 0 || request.attributes.integer_or("distinct", 0) != 0) {
    schedule.launches.push_back(copy_data(s));
    if (s.count() > 0) schedule.launches.push_back(place_distinct(s));
  } else if (is_gpu(target)) {
    Argument order = scratch_argument(0);
    schedule.scratch_bytes.push_back(s.count() * static_cast<std::int64_t>(sizeof(std::int64_t)));
    add_sort(schedule, s.indices, operand_argument(1), order, 0, false, target);
    schedule.launches.push_back(copy_data(s));
    schedule.launches.push_back(place_sorted(s, order));
  } else {
    bool wide = s.combine && accumulator_type(s.dtype()) != s.dtype();
    if (wide) schedule.scratch_bytes.push_back(s.rows() * s.columns() * 4);
    schedule.launches.push_back(place_by_range(s, wide));
  }
  return schedule;
}

}  // namespace fuseline::kernels
