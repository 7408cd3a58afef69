// Picking and placing elements: Gather, Scatter, TopK, CumSum, OneHot and their kin.
#include <algorithm>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

void gather_op(Context& c) {
  std::size_t axis = absolute_axis(c.integer("axis", 0), c.rank(0));
  c.out_like(gather(c.in(0), c.in(1), static_cast<int>(axis)));
}

void gather_elements_op(Context& c) {
  std::size_t axis = absolute_axis(c.integer("axis", 0), c.rank(0));
  c.out_like(gather_elements(c.in(0), c.in(1), axis));
}

// The position in `x` that a list of indices (the last axis of `indices`) names, behind `batch`
// common axes, as the first element of what it picks.
Value tuple_positions(const Value& indices, const Dims& x, std::size_t batch) {
  Graph& graph = indices.graph();
  const Dims dims = indices.dims();
  auto count = static_cast<std::size_t>(dims.back().constant());
  Dims outer(dims.begin(), dims.end() - 1);
  Value linear = graph.constant(DType::i64, std::int64_t{0});
  for (std::size_t k = 0; k < batch; ++k)
    linear = linear * size_value(graph, x[k]) + iota(graph, outer, static_cast<int>(k), DType::i64);
  for (std::size_t k = 0; k < count; ++k) {
    Value own = pick(indices, -1, static_cast<std::int64_t>(k));
    linear = linear * size_value(graph, x[batch + k]) + wrap_indices(own, x[batch + k]);
  }
  return linear.dims() == outer ? linear : broadcast_to(linear, outer);
}

std::size_t tuple_length(const Value& indices, const Dims& x, std::size_t batch) {
  const Dims& dims = indices.dims();
  if (dims.empty() || !dims.back().is_constant()) fail("the last axis of the indices is not known");
  std::int64_t count = dims.back().constant();
  if (count < 1 || static_cast<std::size_t>(count) + batch > x.size() || dims.size() <= batch)
    fail("indices {} for {}", to_string(dims), to_string(x));
  return static_cast<std::size_t>(count);
}

void gather_nd(Context& c) {
  Value x = c.in(0), indices = c.in(1);
  auto batch = static_cast<std::size_t>(c.integer("batch_dims", 0));
  std::size_t picked = batch + tuple_length(indices, x.dims(), batch);
  Value linear = tuple_positions(indices, x.dims(), batch);
  Dims rest(x.dims().begin() + static_cast<long>(picked), x.dims().end());
  Value rows = reshape(x, {product(x.dims(), 0, picked), product(rest)});
  Dims result = linear.dims();
  Value taken = gather(rows, linear, 0);
  result.insert(result.end(), rest.begin(), rest.end());
  c.out_like(reshape(taken, result));
}

void scatter_elements(Context& c) {
  Value x = c.in(0);
  std::size_t axis = absolute_axis(c.integer("axis", 0), c.rank(0));
  c.out_like(scatter(x, positions_along(c.in(1), x.dims(), axis), c.in(2),
                     c.choice("reduction", "none", {"none", "add", "mul", "min", "max"})));
}

void scatter_nd(Context& c) {
  Value x = c.in(0), indices = c.in(1);
  std::size_t picked = tuple_length(indices, x.dims(), 0);
  Value places = flat(tuple_positions(indices, x.dims(), 0));
  Dim inner = product(x.dims(), picked, x.dims().size());
  Value data = reshape(x, {product(x.dims(), 0, picked), inner});
  Value updates = reshape(c.in(2), {places.dims()[0], inner});
  Value placed = scatter_rows(data, places, updates,
                              c.choice("reduction", "none", {"none", "add", "mul", "min", "max"}));
  c.out_like(reshape(placed, x.dims()));
}

// A cache that `update` is written into from a position of each sequence on.
void tensor_scatter(Context& c) {
  Value cache = c.in(0), update = c.in(1);
  const Dims dims = cache.dims();
  if (update.dims().size() != dims.size())
    fail("an update of {} axes for a cache of {}", update.dims().size(), dims.size());
  std::size_t axis = absolute_axis(c.integer("axis", -2), dims.size());
  bool circular = c.choice("mode", "linear", {"linear", "circular"}) == "circular";
  Value start = c.graph.constant(DType::i64, std::int64_t{0});
  if (c.has(2)) {
    Dims column(dims.size(), Dim(1));
    column[0] = dims[0];
    start = reshape(cast(c.in(2), DType::i64), column);
  }
  const Dim count = update.dims()[axis];
  Value extent = size_value(c.graph, dims[axis]);
  Value place = iota(c.graph, dims, static_cast<int>(axis), DType::i64) - start;
  if (circular) place = mod(place + extent, extent);
  Value inside = (place >= 0) & (place < size_value(c.graph, count));
  Value from = minimum(maximum(place, 0), size_value(c.graph, count - 1));
  // Positions along the axis in `update`, for every element of the cache.
  Value linear = c.graph.constant(DType::i64, std::int64_t{0});
  for (std::size_t k = 0; k < dims.size(); ++k) {
    Value own = k == axis ? from : iota(c.graph, dims, static_cast<int>(k), DType::i64);
    linear = linear * size_value(c.graph, update.dims()[k]) + own;
  }
  c.out_like(where(inside, take(update, linear), cache));
}

void top_k(Context& c) {
  std::size_t axis = absolute_axis(c.integer("axis", -1), c.rank(0));
  Dim count = c.opset >= 10 ? c.open_dims(1).at(0) : Dim(c.integer("k"));
  // More than there are is a size of -1, which is refused when it runs.
  if (count.has(Dim::Kind::operand))
    count = count - less(c.in(0).dims()[axis], count) * (count + 1);
  Ordered first = top(c.in(0), axis, count, c.integer("largest", 1) != 0);
  c.out(0, first.values);
  c.out(1, first.indices);
}

template <bool product_of>
void cumulate(Context& c) {
  std::vector<std::int64_t> axis = c.integers(1);
  if (axis.size() != 1) fail("one axis is needed");
  c.out(prefix(c.in(0), absolute_axis(axis[0], c.rank(0)), product_of,
               c.integer("exclusive", 0) != 0, c.integer("reverse", 0) != 0));
}

void trilu(Context& c) {
  Value x = c.in(0);
  const Dims dims = x.dims();
  if (dims.size() < 2) fail("a matrix is needed, not {}", to_string(dims));
  Dims matrix(dims.end() - 2, dims.end());
  Value k = c.has(1) ? reshape(cast(c.in(1), DType::i64), {})
                     : c.graph.constant(DType::i64, std::int64_t{0});
  Value offset = iota(c.graph, matrix, 1, DType::i64) - iota(c.graph, matrix, 0, DType::i64);
  Value kept = c.integer("upper", 1) ? offset >= k : offset <= k;
  c.out_like(where(kept, x, c.graph.constant(x.dtype(), std::int64_t{0})));
}

void one_hot(Context& c) {
  Value given = c.in(1);
  Dim depth = is_float(given.dtype()) ? Dim(static_cast<std::int64_t>(c.known.numbers(given).at(0)))
                                      : c.known.dims(given).at(0);
  Value values = c.in(2);
  auto axis = static_cast<std::int64_t>(absolute_axis(c.integer("axis", -1), c.rank(0) + 1));
  Value indices = unsqueeze(wrap_indices(cast(c.in(0), DType::i64), depth), {axis});
  Dims line(indices.dims().size(), Dim(1));
  line[static_cast<std::size_t>(axis)] = depth;
  Value hit = indices == iota(c.graph, line, static_cast<int>(axis), DType::i64);
  c.out(where(hit, pick(values, 0, 1), pick(values, 0, 0)));
}

// The first elements of each sequence in the opposite order.
void reverse_sequence(Context& c) {
  Value x = c.in(0);
  const Dims dims = x.dims();
  std::size_t batch = absolute_axis(c.integer("batch_axis", 1), dims.size());
  std::size_t time = absolute_axis(c.integer("time_axis", 0), dims.size());
  Dims line(dims.size(), Dim(1));
  line[batch] = dims[batch];
  Value length = reshape(cast(c.in(1), DType::i64), line);
  Value at = iota(c.graph, dims, static_cast<int>(time), DType::i64);
  Value from = where(at < length, length - 1 - at, at);
  c.out_like(gather_elements(x, from, time));
}

constexpr OperatorRow rows[] = {
    {"Gather", 1, gather_op},
    {"GatherElements", 11, gather_elements_op},
    {"GatherND", 11, gather_nd},
    {"Scatter", 9, scatter_elements},
    {"ScatterElements", 11, scatter_elements},
    {"ScatterND", 11, scatter_nd},
    {"TensorScatter", 24, tensor_scatter},
    {"TopK", 1, top_k},
    {"CumSum", 11, cumulate<false>},
    {"CumProd", 26, cumulate<true>},
    {"Trilu", 14, trilu},
    {"OneHot", 9, one_hot},
    {"ReverseSequence", 10, reverse_sequence},
};

}  // namespace

std::span<const OperatorRow> index_operators() { return rows; }

}  // namespace fuseline::onnx
