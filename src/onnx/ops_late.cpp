// Operators whose results are as large as their data says: NonZero, Compress, Unique,
// NonMaxSuppression.
#include <algorithm>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

constexpr std::int64_t most_row_elements = 256;  // of Unique along an axis: a sort each

std::string late_name(const Graph& graph) { return fmt::format("n{}", graph.nodes().size()); }

Value zeros(Graph& graph, Dims dims) {
  return broadcast_to(graph.constant(DType::i64, std::int64_t{0}), std::move(dims));
}

Value line(Graph& graph, const Dim& count) { return iota(graph, {count}, 0, DType::i64); }

// Elements by position along the first axis.
Value picked(const Value& x, const Value& positions) { return gather(x, positions, 0); }

// result[order[i]] = values[i].
Value put_back(const Value& values, const Value& order) {
  const Dim count = order.dims()[0];
  Value column = reshape(values, {count, 1});
  Value placed =
      fuseline::scatter(zeros(values.graph(), {count, 1}), order, column, Combine::set, true);
  return reshape(placed, {count});
}

void non_zero(Context& c) {
  Value x = c.in(0);
  const Dims dims = x.dims();
  Value found = nonzero_positions(x, late_name(c.graph));
  const Dim count = found.dims()[0];
  if (dims.empty()) return c.out(zeros(c.graph, {0, count}));
  std::vector<Value> rows;
  for (std::size_t k = dims.size(); k-- > 0;) {
    Value extent = size_value(c.graph, dims[k]);
    rows.insert(rows.begin(), reshape(k > 0 ? found % extent : found, {1, count}));
    found = found / extent;
  }
  c.out(concat_many(rows, 0));
}

// A mask that is known when the model is read says how many elements there are.
void compress(Context& c) {
  bool whole = !c.has_attribute("axis");
  Value x = whole ? flat(c.in(0)) : c.in(0);
  std::size_t axis = whole ? 0 : absolute_axis(c.integer("axis"), x.dims().size());
  Value picks = c.in(1);
  if (c.known.constant(c.in(1))) {
    std::vector<std::int64_t> mask = c.integers(1), kept;
    for (std::size_t i = 0; i < mask.size(); ++i)
      if (mask[i]) kept.push_back(static_cast<std::int64_t>(i));
    picks = integer_constant(c.graph, kept, {static_cast<std::int64_t>(kept.size())});
  } else {
    picks = nonzero_positions(c.in(1), late_name(c.graph));
  }
  c.out_like(gather(x, picks, static_cast<int>(axis)));
}

// ---- Unique

// Rows in lexicographic order: by the last column first, each sort keeps what the ones before
// it did.
Value row_order(const Value& rows) {
  const Dim columns = rows.dims()[1];
  if (!columns.is_constant() || columns.constant() > most_row_elements)
    fail("slices of {} elements; at most {} are sorted", columns.to_string(), most_row_elements);
  Value order = line(rows.graph(), rows.dims()[0]);
  for (std::int64_t k = columns.constant(); k-- > 0;) {
    Value key = picked(pick(rows, 1, k), order);
    order = picked(order, sort_indices(key, 0));
  }
  return order;
}

// Whether each row differs from the one before it; NaN equals NaN.
Value begins_group(const Value& rows) {
  Graph& graph = rows.graph();
  Value place = line(graph, rows.dims()[0]);
  Value before = gather(rows, maximum(place - 1, 0), 0);
  Value differs = not_equal(rows, before);
  if (is_float(rows.dtype())) differs = differs & ~(is_nan(rows) & is_nan(before));
  Value any = reduce_max(cast(differs, DType::u8), {1}) > 0;
  return any | (place == 0);
}

struct Groups {
  Value first;    // of each group: where it occurs first
  Value counts;   // how often
  Value inverse;  // of each row: its group
};

Groups find_groups(const Value& rows) {
  Graph& graph = rows.graph();
  const Dim all = rows.dims()[0];
  Value order = row_order(rows);
  Value begins = begins_group(picked(rows, order));
  Value number = fuseline::scan(cast(begins, DType::i64), 0) - 1;
  Value starts = nonzero_positions(begins, late_name(graph));
  const Dim groups = starts.dims()[0];
  Value own = line(graph, groups), last = size_value(graph, groups - 1);
  Value next = picked(starts, minimum(own + 1, last));
  Value ends = where(own == last, size_value(graph, all), next);
  return {picked(order, starts), ends - starts, put_back(number, order)};
}

// Groups in the order in which they occur.
Groups by_occurrence(const Groups& groups) {
  Value order = sort_indices(groups.first, 0);
  Value place = put_back(line(order.graph(), order.dims()[0]), order);
  return {picked(groups.first, order), picked(groups.counts, order), picked(place, groups.inverse)};
}

void unique(Context& c) {
  bool whole = !c.has_attribute("axis");
  Value x = whole ? flat(c.in(0)) : c.in(0);
  const Dims dims = x.dims();
  std::size_t axis = whole ? 0 : absolute_axis(c.integer("axis"), dims.size());
  std::vector<std::int64_t> perm = {static_cast<std::int64_t>(axis)};
  for (std::size_t k = 0; k < dims.size(); ++k)
    if (k != axis) perm.push_back(static_cast<std::int64_t>(k));
  Value front = transpose(x, perm);
  Dim columns = product(front.dims(), 1, dims.size());
  Groups groups = find_groups(reshape(front, {dims[axis], columns}));
  if (c.integer("sorted", 1) == 0) groups = by_occurrence(groups);
  c.out_like(gather(x, groups.first, static_cast<int>(axis)));
  c.out(1, groups.first);
  c.out(2, groups.inverse);
  c.out(3, groups.counts);
}

// ---- NonMaxSuppression

// Two opposite corners (y, x, y, x).
Value corners_of(const Value& boxes, bool centers) {
  if (!centers) return boxes;
  auto column = [&](int k) { return pick(boxes, -1, k); };
  Value x = column(0), y = column(1), half_width = column(2) / 2, half_height = column(3) / 2;
  std::vector<Value> corners;
  for (const Value& corner : {y - half_height, x - half_width, y + half_height, x + half_width})
    corners.push_back(unsqueeze(corner, {2}));
  return concat_many(corners, 2);
}

Value scalar_or(Context& c, std::size_t i, DType dtype, double otherwise) {
  return c.has(i) ? reshape(cast(c.in(i), dtype), {}) : number(c.graph, dtype, otherwise);
}

void non_max_suppression(Context& c) {
  Value boxes = corners_of(c.in(0), c.integer("center_point_box", 0) != 0), scores = c.in(1);
  const Dims dims = scores.dims();
  if (dims.size() != 3) fail("scores {}; [batch, classes, boxes] is needed", to_string(dims));
  const Dim groups = dims[0] * dims[1], count = dims[2];
  Value order = sort_indices(scores, 2, true);
  Value batch = iota(c.graph, dims, 0, DType::i64);
  Value row = batch * size_value(c.graph, count) + order;
  Value best_first =
      reshape(gather(reshape(boxes, {dims[0] * count, 4}), row, 0), {groups, count, 4});
  Value candidates = c.has(4) ? gather_elements(scores, order, 2) > reshape(c.in(4), {})
                              : broadcast_to(c.graph.constant(DType::bool_, std::int64_t{1}), dims);
  Value stays = suppress(best_first, reshape(candidates, {groups, count}),
                         scalar_or(c, 3, DType::f32, 0), scalar_or(c, 2, DType::i64, 0));
  Value found = nonzero_positions(stays, late_name(c.graph));
  Value group = found / size_value(c.graph, count), classes = size_value(c.graph, dims[1]);
  std::vector<Value> columns;
  for (const Value& column : {group / classes, group % classes, take(order, found)})
    columns.push_back(unsqueeze(column, {1}));
  c.out(concat_many(columns, 1));
}

constexpr OperatorRow rows[] = {
    {"NonZero", 9, non_zero},
    {"Compress", 9, compress},
    {"Unique", 11, unique},
    {"NonMaxSuppression", 10, non_max_suppression},
};

}  // namespace

std::span<const OperatorRow> late_operators() { return rows; }

}  // namespace fuseline::onnx
