// The segment of every node, and the graphs.
#include "program/cut_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/kernel_ops.hpp"
#include "graph/node_label.hpp"

namespace fuseline {
namespace {

std::string size_name(const Node& node) { return "late:" + node.attributes.text("name"); }

// late(n) becomes operand(late:n, 0).
Dim read_on_host(const Dim& dim) {
  if (!dim.has(Dim::Kind::late)) return dim;
  std::string text = dim.to_string();
  constexpr std::string_view from = "late(";
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + 1)) {
    bool whole = at == 0 || std::string_view(" (*+-,").find(text[at - 1]) != std::string_view::npos;
    if (!whole) continue;
    std::size_t end = text.find(')', at);
    std::string name = text.substr(at + from.size(), end - at - from.size());
    text.replace(at, end + 1 - at, "operand(late:" + name + ", 0)");
  }
  return Dim::parse(text);
}

Dims read_on_host(const Dims& dims) {
  Dims result;
  for (const Dim& dim : dims) result.push_back(read_on_host(dim));
  return result;
}

Attributes read_on_host(const Attributes& attributes) {
  Attributes result;
  for (const auto& [name, attribute] : attributes) {
    const auto* dims = std::get_if<Dims>(&attribute);
    result.set(name, dims ? Attribute(read_on_host(*dims)) : attribute);
  }
  return result;
}

class Cutter {
 public:
  explicit Cutter(const Graph& graph) : graph_(graph), level_(graph.value_count()) {}

  std::vector<Segment> run() {
    find_levels();
    find_crossing();
    std::vector<Segment> segments;
    for (int level = 0; level <= last_; ++level) segments.push_back(build(level));
    return segments;
  }

 private:
  // What is made anew in every segment that needs it.
  static bool is_free(const Node& node) {
    return node.op == OpCode::constant || node.op == OpCode::dim_value || node.op == OpCode::iota;
  }

  void find_levels() {
    std::map<std::string, int> known;  // the segment that a size is known in
    for (const Node& node : graph_.nodes()) {
      int level = 0;
      for (ValueId input : node.inputs) level = std::max(level, level_[input]);
      for (const std::string& name : late_names(graph_, node))
        level = std::max(level, known.at(name));
      level_[node.output] = level;
      if (node.op == OpCode::late_size)
        known[Dim::late(node.attributes.text("name")).to_string()] = level + 1;
      last_ = std::max(last_, level);
    }
  }

  void find_crossing() {
    auto cross = [&](ValueId value, int level) {
      const Node& node = graph_.node_of(value);
      if (level_[value] < level && !is_free(node) && node.op != OpCode::input)
        crossing_.insert(value);
    };
    for (const Node& node : graph_.nodes())
      for (ValueId input : node.inputs)
        if (!is_free(node)) cross(input, level_[node.output]);
  }

  Segment build(int level) {
    Segment segment;
    if (level > 0) segment.reason = reason_of(level);
    values_.clear();
    given_.clear();
    for (const Node& node : graph_.nodes())
      if (level_[node.output] == level && node.op != OpCode::input && !is_free(node))
        copy(segment, node);
    add_outputs(segment, level);
    return segment;
  }

  std::string reason_of(int level) const {
    std::string names;
    for (const Node& node : graph_.nodes())
      if (node.op == OpCode::late_size && level_[node.output] + 1 == level)
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", node_label(node),
                             Dim::late(node.attributes.text("name")).to_string());
    return fmt::format("a size is read on the host first: {}", names);
  }

  // The value inside the segment; inputs and free values come in as they are needed.
  Value need(Segment& segment, ValueId value, int level) {
    if (auto found = values_.find(value); found != values_.end()) return found->second;
    const Node& node = graph_.node_of(value);
    if (is_free(node)) {
      copy(segment, node);
    } else {
      std::string name =
          node.op == OpCode::input ? node.attributes.text("name") : crossing_name(value);
      Dims dims = graph_.type(value).dims;
      values_.emplace(value,
                      segment.graph.input(name, graph_.type(value).dtype, read_on_host(dims)));
      give(segment, dims, level);
    }
    return values_.at(value);
  }

  void copy(Segment& segment, const Node& node) {
    std::vector<Value> operands;
    for (ValueId input : node.inputs) operands.push_back(need(segment, input, level_[node.output]));
    give(segment, graph_.type(node.output).dims, level_[node.output]);
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* dims = std::get_if<Dims>(&attribute))
        give(segment, *dims, level_[node.output]);
    if (node.op == OpCode::late_size) {  // the host reads what it measures
      values_.emplace(node.output, operands[0]);
      return;
    }
    Value made = segment.graph.apply(node.op, operands, read_on_host(node.attributes));
    segment.graph.set_origin_of(made.id(), node.origin);
    values_.emplace(node.output, made);
  }

  // Inputs that say what the names in these sizes are.
  void give(Segment& segment, const Dims& dims, int level) {
    for (const Dim& dim : dims)
      for (const std::string& name : dim.names())
        if (given_.insert(name).second) add_source(segment, name, level);
  }

  void add_source(Segment& segment, const std::string& name, int level) {
    if (name.starts_with("late(")) {
      segment.graph.input("late:" + name.substr(5, name.size() - 6), DType::i64, {});
      return;
    }
    for (const NamedValue& input : graph_.inputs()) {
      const Dims& dims = graph_.type(input.value).dims;
      bool symbol = std::any_of(dims.begin(), dims.end(), [&](const Dim& dim) {
        return dim.is_symbol() && dim.symbol_name() == name;
      });
      if (!symbol && !name.starts_with("operand(" + input.name + ",")) continue;
      need(segment, input.value, level);
      return;
    }
  }

  static std::string crossing_name(ValueId value) { return fmt::format("value:{}", value); }

  void add_outputs(Segment& segment, int level) {
    for (ValueId value : crossing_) {
      if (level_[value] != level) continue;
      segment.crossing.push_back(crossing_name(value));
      segment.graph.output(segment.crossing.back(), values_.at(value));
    }
    for (const Node& node : graph_.nodes()) {
      if (node.op != OpCode::late_size || level_[node.output] != level) continue;
      segment.sizes.push_back(size_name(node));
      segment.graph.output(segment.sizes.back(), values_.at(node.output));
    }
    for (const NamedValue& output : graph_.outputs())
      if (level_[output.value] == level)
        segment.graph.output(output.name, need(segment, output.value, level));
  }

  const Graph& graph_;
  std::vector<int> level_;  // by value: the segment that makes it
  int last_ = 0;
  std::set<ValueId> crossing_;
  std::map<ValueId, Value> values_;  // of the segment that is being built
  std::set<std::string> given_;
};

}  // namespace

bool has_late_sizes(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return node.op == OpCode::late_size || !late_names(graph, node).empty();
  });
}

std::vector<Segment> cut_segments(const Graph& graph) { return Cutter(graph).run(); }

}  // namespace fuseline
