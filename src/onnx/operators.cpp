// Looking operators up in the tables of the families.
#include "onnx/operators.hpp"

#include <unordered_map>
#include <vector>

namespace fuseline::onnx {
namespace {

using Rows = std::unordered_map<std::string_view, std::vector<OperatorRow>>;

Rows all_rows() {
  Rows rows;
  for (auto family : {elementwise_operators, activation_operators, type_operators, shape_operators,
                      index_operators, late_operators, reduce_operators, normalization_operators,
                      linear_operators, pool_operators, attention_operators, recurrent_operators,
                      resize_operators, sample_operators, signal_operators, text_operators, control_operators})
    for (const OperatorRow& row : family()) rows[row.name].push_back(row);
  return rows;
}

}  // namespace

const OperatorRow* find_operator(std::string_view name, std::int64_t opset) {
  static const Rows rows = all_rows();
  auto found = rows.find(name);
  if (found == rows.end()) return nullptr;
  const OperatorRow* best = nullptr;
  for (const OperatorRow& row : found->second)
    if (row.since <= opset && (!best || row.since > best->since)) best = &row;
  return best;
}

}  // namespace fuseline::onnx
