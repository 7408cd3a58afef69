// Cutting at the seams.
#include "fuse/parts.hpp"

#include <optional>

#include "graph/op_table.hpp"

namespace fuseline {
namespace {

// A concatenation along the innermost axis, and where on that axis a value begins in it.
struct Seams {
  ValueId concat;
  std::int64_t first;
};

// Through elementwise operations with operands of the same sizes or one element, and slices.
std::optional<Seams> seams_of(const Graph& graph, ValueId value) {
  std::int64_t first = 0;
  for (;;) {
    const Node& n = graph.node_of(value);
    const Dims& dims = graph.type(value).dims;
    if (n.op == OpCode::concat) {
      bool inner = n.attributes.integer("axis") + 1 == static_cast<std::int64_t>(dims.size());
      return inner ? std::optional<Seams>({value, first}) : std::nullopt;
    }
    if (n.op == OpCode::slice) {
      if (n.attributes.has("steps"))
        for (std::int64_t step : n.attributes.integers("steps"))
          if (step != 1) return std::nullopt;
      const Dim& start = n.attributes.dims("starts").back();
      if (!start.is_constant()) return std::nullopt;
      first += start.constant();
    } else if (info(n.op).group != OpGroup::elementwise && n.op != OpCode::cast) {
      return std::nullopt;
    }
    // The first operand that is as large: the others are read at every element anyway.
    std::optional<ValueId> next;
    for (ValueId input : n.inputs)
      if (!next && (n.op == OpCode::slice || graph.type(input).dims == dims)) next = input;
    if (!next) return std::nullopt;
    value = *next;
  }
}

void cut(const Graph& graph, const Part& part, std::vector<Part>& parts) {
  auto seams = part.sizes.empty() ? std::nullopt : seams_of(graph, part.value);
  if (!seams || !part.sizes.back().is_constant()) return parts.push_back(part);
  for (ValueId operand : graph.node_of(seams->concat).inputs)
    if (!graph.type(operand).dims.back().is_constant()) return parts.push_back(part);
  std::int64_t end = part.sizes.back().constant(), at = 0, meet = -seams->first;
  for (ValueId operand : graph.node_of(seams->concat).inputs) {
    meet += graph.type(operand).dims.back().constant();
    std::int64_t stop = std::min(meet, end);
    if (stop <= at) continue;
    Part piece = part;
    piece.from.back() = part.from.back() + Dim(at);
    piece.starts.back() = part.starts.back() + Dim(at);
    piece.sizes.back() = stop - at;
    parts.push_back(piece);
    at = stop;
  }
}

}  // namespace

std::vector<Part> parts_of(const Graph& graph, ValueId root) {
  const Node& n = graph.node_of(root);
  const Dims& dims = graph.type(root).dims;
  Dims zeros(dims.size(), Dim(0));
  std::vector<Part> parts;
  if (n.op != OpCode::concat) {
    cut(graph, {root, root, zeros, dims, zeros}, parts);
    return parts;
  }
  auto axis = static_cast<std::size_t>(n.attributes.integer("axis"));
  Dims starts = zeros;
  for (ValueId operand : n.inputs) {
    const Dims& own = graph.type(operand).dims;
    cut(graph, {root, operand, zeros, own, starts}, parts);
    starts[axis] = starts[axis] + own[axis];
  }
  return parts;
}

}  // namespace fuseline
