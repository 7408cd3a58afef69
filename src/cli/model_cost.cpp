// Counting operations and parameters.
#include "cli/model_cost.hpp"

#include <fmt/format.h>

#include "graph/op_table.hpp"

namespace fuseline::cli {

ModelCost cost_of(const Graph& graph) {
  ModelCost cost;
  for (const Node& node : graph.nodes()) {
    if (node.op == OpCode::constant) {
      const Tensor& tensor = node.attributes.tensor("value");
      cost.bytes += tensor.bytes();
      if (is_float(tensor.dtype()) && tensor.size() > 1) cost.parameters += tensor.size();
    } else if (info(node.op).space) {
      ++cost.contractions;
      cost.operations = cost.operations + Dim(2) * product(reduction_space(graph, node).dims);
    }
  }
  return cost;
}

std::string flop_text(double operations) {
  constexpr const char* units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
  std::size_t unit = 0;
  for (; operations >= 1000 && unit + 1 < std::size(units); ++unit) operations /= 1000;
  return fmt::format("{:.{}f} {}", operations, unit == 0 ? 0 : 2, units[unit]);
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes);
  return size < 1e6 ? fmt::format("{:.1f} kB", size / 1e3) : fmt::format("{:.1f} MB", size / 1e6);
}

}  // namespace fuseline::cli
