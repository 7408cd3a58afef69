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

Value scatter_rows(const Value& data, const Value& places, const Value& updates,
                   const std::string& reduction) {
  if (reduction == "none") return fuseline::scatter(data, places, updates);
  if (is_bool(data.dtype())) {
    std::string name = reduction == "add" ? "max" : reduction == "mul" ? "min" : reduction;
    return cast(scatter_rows(cast(data, DType::u8), places, cast(updates, DType::u8), name),
                DType::bool_);
  }
  Combine combine = reduction == "add"   ? Combine::add
                    : reduction == "mul" ? Combine::mul
                    : reduction == "min" ? Combine::min
                                         : Combine::max;
  return fuseline::scatter(data, places, updates, combine);
}

Value scatter(const Value& data, const Value& linear, const Value& updates,
              const std::string& reduction) {
  Value rows = reshape(data, {product(data.dims()), 1});
  Value added = reshape(updates, {product(updates.dims()), 1});
  return reshape(scatter_rows(rows, flat(linear), added, reduction), data.dims());
}

Value prefix(const Value& x, std::size_t axis, bool product_of, bool exclusive, bool reverse) {
  return fuseline::scan(x, static_cast<int>(axis),
                        {product_of ? Combine::mul : Combine::add, exclusive, reverse});
}

Ordered top(const Value& x, std::size_t axis, const Dim& count, bool largest) {
  Value order = sort_indices(x, static_cast<int>(axis), largest);
  Value indices = part(order, axis, 0, count);
  return {gather_elements(x, indices, axis), indices};
}

}  // namespace fuseline::onnx
