// Comparing stored values of two programs of one model.
#include "cli/verify_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/check_sizes.hpp"

namespace fuseline::cli {
namespace {

constexpr std::int64_t most_bytes_at_once = std::int64_t{1} << 30;

// A name that the graph does not have.
std::string free_name(const Graph& graph, std::size_t number) {
  std::string name = fmt::format("stored_{}", number);
  auto taken = [&](const NamedValue& v) { return v.name == name; };
  while (std::any_of(graph.inputs().begin(), graph.inputs().end(), taken) ||
         std::any_of(graph.outputs().begin(), graph.outputs().end(), taken))
    name += '_';
  return name;
}

}  // namespace

bool all_fine(const std::vector<CheckRow>& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [](const CheckRow& row) { return row.difference.is_fine(); });
}

CompileOptions ModelCheck::reference() const {
  CompileOptions options;
  options.device = options_.device;
  options.fusion = false;
  return options;
}

std::vector<Tensor> ModelCheck::run(const Graph& graph, const CompileOptions& options) const {
  return compile(graph, options).run(inputs_);
}

std::vector<CheckRow> ModelCheck::outputs(const CompileOptions& options) const {
  std::vector<Tensor> ours = run(graph_, options);
  if (expected_.empty()) expected_ = run(graph_, reference());
  std::vector<CheckRow> rows;
  for (std::size_t i = 0; i < ours.size(); ++i)
    rows.push_back({graph_.outputs()[i].name, difference(ours[i], expected_[i], tolerance_)});
  return rows;
}

std::vector<ModelCheck::Stored> ModelCheck::stored_values() const {
  Program program = compile(graph_, options_);
  std::set<std::string> stored;
  for (ValueId value : program.stored()) stored.insert(program.graph().node_of(value).origin);
  std::map<std::string, ValueId> last;
  for (const Node& node : graph_.nodes())
    if (!node.origin.empty() && node.op != OpCode::constant) last[node.origin] = node.output;
  std::vector<Stored> values;
  for (const auto& [name, value] : last)
    if (stored.contains(name)) values.push_back({name, value});
  std::sort(values.begin(), values.end(),
            [](const Stored& a, const Stored& b) { return a.value < b.value; });
  return values;
}

void ModelCheck::compare(const std::vector<Stored>& values, std::vector<CheckRow>& rows) const {
  Graph graph = graph_;
  std::size_t first = graph.outputs().size();
  for (std::size_t i = 0; i < values.size(); ++i)
    graph.output(free_name(graph, i), graph.value(values[i].value));
  std::vector<Tensor> ours = run(graph, options_), theirs = run(graph, reference());
  for (std::size_t i = 0; i < values.size(); ++i)
    rows.push_back({values[i].name, difference(ours[first + i], theirs[first + i], tolerance_)});
}

std::vector<CheckRow> ModelCheck::nodes() const {
  DimBindings sizes = bind_sizes(graph_, inputs_);
  std::vector<CheckRow> rows;
  std::vector<Stored> some;
  std::int64_t bytes = 0;
  for (const Stored& stored : stored_values()) {
    const ValueType& type = graph_.type(stored.value);
    std::int64_t own =
        element_count(shape_of(type.dims, sizes)) * static_cast<std::int64_t>(size_of(type.dtype));
    if (!some.empty() && bytes + own > most_bytes_at_once) {
      compare(some, rows);
      some.clear();
      bytes = 0;
    }
    some.push_back(stored);
    bytes += own;
  }
  if (!some.empty()) compare(some, rows);
  return rows;
}

}  // namespace fuseline::cli
