// Index arithmetic on values.
#include "onnx/index_tools.hpp"

#include "base/fail.hpp"

namespace fuseline::onnx {

Value concat_many(std::vector<Value> parts, std::int64_t axis) {
  constexpr std::size_t most = 64;
  if (parts.empty()) fail("no operands");
  auto at = static_cast<int>(absolute_axis(axis, parts[0].dims().size()));
  while (parts.size() > 1) {
    std::vector<Value> joined;
    for (std::size_t first = 0; first < parts.size(); first += most) {
      std::size_t last = std::min(parts.size(), first + most);
      std::vector<Value> run(parts.begin() + static_cast<long>(first),
                             parts.begin() + static_cast<long>(last));
      joined.push_back(run.size() == 1 ? run[0] : concat(run, at));
    }
    parts = std::move(joined);
  }
  return parts[0];
}

Value size_value(Graph& graph, const Dim& dim) {
  return dim.is_constant() ? graph.constant(DType::i64, dim.constant()) : dim_value(graph, dim);
}

Value wrap_indices(const Value& indices, const Dim& extent) {
  Value i = cast(indices, DType::i64);
  return where(i < 0, i + size_value(i.graph(), extent), i);
}

Value flat(const Value& x) { return reshape(x, {product(x.dims())}); }

Value take(const Value& x, const Value& linear) { return gather(flat(x), linear, 0); }

Value positions_along(const Value& indices, const Dims& x, std::size_t axis) {
  Graph& graph = indices.graph();
  const Dims dims = indices.dims();
  if (dims.size() != x.size())
    fail("indices with {} axes for a tensor with {}", dims.size(), x.size());
  Value linear = graph.constant(DType::i64, std::int64_t{0});
  for (std::size_t k = 0; k < x.size(); ++k) {
    Value own = k == axis ? wrap_indices(indices, x[k])
                          : iota(graph, dims, static_cast<int>(k), DType::i64);
    linear = linear * size_value(graph, x[k]) + own;
  }
  return linear;
}

Value gather_elements(const Value& x, const Value& indices, std::size_t axis) {
  return take(x, positions_along(indices, x.dims(), axis));
}

namespace {

Value scatter_last(const Value& data, const Value& hit, const Value& updates) {
  Graph& graph = data.graph();
  Value which = iota(graph, {Dim(1), updates.dims()[0]}, 1, DType::i64);
  Value last = reduce_max(where(hit, which, -1), {1});
  Value picked = gather(updates, maximum(last, 0), 0);
  return where(last >= 0, picked, data);
}

}  // namespace

Value scatter(const Value& data, const Value& linear, const Value& updates,
              const std::string& reduction) {
  Graph& graph = data.graph();
  if (is_bool(data.dtype()))
    return cast(scatter(cast(data, DType::u8), linear, cast(updates, DType::u8),
                        reduction == "add"   ? "max"
                        : reduction == "mul" ? "min"
                                             : reduction),
                DType::bool_);
  if (product(updates.dims()) == Dim(0)) return data;
  Value place = iota(graph, {product(data.dims()), Dim(1)}, 0, DType::i64);
  Value hit = place == reshape(flat(linear), {Dim(1), product(linear.dims())});
  Value old = flat(data), added = flat(updates);
  Value row = reshape(added, {Dim(1), product(updates.dims())});
  auto result = [&]() -> Value {
    if (reduction == "none") return scatter_last(old, hit, added);
    if (reduction == "add") return old + reduce_sum(where(hit, row, 0), {1});
    if (reduction == "mul") return old * reduce_prod(where(hit, row, 1), {1});
    // Where nothing hits, the old element stands in for the updates.
    Value column = reshape(old, {product(data.dims()), Dim(1)});
    if (reduction == "min") return minimum(old, reduce_min(where(hit, row, column), {1}));
    if (reduction == "max") return maximum(old, reduce_max(where(hit, row, column), {1}));
    fail("reduction \"{}\"; use none, add, mul, min or max", reduction);
  }();
  return reshape(result, data.dims());
}

Value prefix(const Value& x, std::size_t axis, bool product_of, bool exclusive, bool reverse) {
  Graph& graph = x.graph();
  const Dims dims = x.dims();
  auto at = static_cast<std::int64_t>(axis);
  // [..., out, in, ...]
  Value terms = unsqueeze(x, {at});
  Dims square(dims.size() + 1, Dim(1));
  square[axis] = dims[axis];
  square[axis + 1] = dims[axis];
  Value to = iota(graph, square, static_cast<int>(axis), DType::i64);
  Value from = iota(graph, square, static_cast<int>(axis) + 1, DType::i64);
  Value counts =
      reverse ? (exclusive ? from > to : from >= to) : (exclusive ? from < to : from <= to);
  if (product_of) return reduce_prod(where(counts, terms, 1), {at + 1});
  return reduce_sum(where(counts, terms, 0), {at + 1});
}

Ordered top(const Value& x, std::size_t axis, const Dim& count, bool largest) {
  Graph& graph = x.graph();
  const Dims dims = x.dims();
  auto at = static_cast<std::int64_t>(axis);
  // How many elements come before each one: [..., own, other, ...].
  Value own = unsqueeze(x, {at + 1}), other = unsqueeze(x, {at});
  Dims square(dims.size() + 1, Dim(1));
  square[axis] = dims[axis];
  square[axis + 1] = dims[axis];
  Value own_place = iota(graph, square, static_cast<int>(axis), DType::i64);
  Value other_place = iota(graph, square, static_cast<int>(axis) + 1, DType::i64);
  Value better = largest ? other > own : other < own;
  Value before = better | ((other == own) & (other_place < own_place));
  Value rank = reduce_sum(cast(before, DType::i64), {at + 1});
  // The element of each rank: [..., rank, element, ...].
  square[axis] = count;
  Value wanted = iota(graph, square, static_cast<int>(axis), DType::i64);
  square[axis] = 1;
  square[axis + 1] = dims[axis];
  Value element = iota(graph, square, static_cast<int>(axis) + 1, DType::i64);
  Value hit = unsqueeze(rank, {at}) == wanted;
  Value indices = reduce_sum(where(hit, element, 0), {at + 1});
  return {gather_elements(x, indices, axis), indices};
}

}  // namespace fuseline::onnx
