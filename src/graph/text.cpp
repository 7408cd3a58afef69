// Graph -> text; see docs/graph-text.md for the format.
#include <algorithm>

#include "base/fail.hpp"
#include "graph/node_label.hpp"
#include "graph/text_number.hpp"

namespace fuseline {
namespace {

constexpr std::int64_t largest_inline_constant = 64;  // bytes

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + '"';
}

template <class Items, class Text>
std::string joined(const Items& items, std::string_view separator, Text&& text) {
  std::string result;
  for (const auto& item : items)
    result += (result.empty() ? "" : std::string(separator)) + text(item);
  return result;
}

std::string attribute_text(const Attribute& attribute) {
  if (const auto* v = std::get_if<std::int64_t>(&attribute)) return std::to_string(*v);
  if (const auto* v = std::get_if<double>(&attribute)) return float_text(*v);
  if (const auto* v = std::get_if<std::string>(&attribute)) return quoted(*v);
  if (const auto* v = std::get_if<DType>(&attribute)) return std::string(name_of(*v));
  if (const auto* v = std::get_if<Dims>(&attribute))
    return "(" + joined(*v, ", ", [](const Dim& dim) { return dim.to_string(); }) + ")";
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&attribute))
    return "[" + joined(*v, ", ", [](std::int64_t i) { return std::to_string(i); }) + "]";
  fail_internal("a tensor attribute outside a constant has no text form");
}

std::string elements_text(const Tensor& tensor) {
  std::string result;
  std::size_t width = size_of(tensor.dtype());
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    result += " " + element_text(tensor.as<const char>() + i * static_cast<std::int64_t>(width),
                                 tensor.dtype());
  return result;
}

bool has_input(const Graph& graph, const std::string& name) {
  auto same = [&](const NamedValue& v) { return v.name == name; };
  return std::any_of(graph.inputs().begin(), graph.inputs().end(), same) ||
         std::any_of(graph.outputs().begin(), graph.outputs().end(), same);
}

std::string large_constant_name(const Graph& graph, const Node& node) {
  std::string name = fmt::format("const_{}", node.output);
  while (has_input(graph, name)) name += '_';
  return name;
}

}  // namespace

std::string Graph::to_text(std::vector<std::pair<std::string, Tensor>>* large_constants) const {
  std::string text = "fuseline-graph 1\n";
  for (const Node& node : nodes_) {
    std::string line = fmt::format("%{} = ", node.output);
    if (node.op == OpCode::input) {
      line += "input " + node.attributes.text("name");
    } else if (node.op == OpCode::constant) {
      const Tensor& value = node.attributes.tensor("value");
      if (value.bytes() <= largest_inline_constant) {
        line += "constant" + elements_text(value);
      } else {
        std::string name = large_constant_name(*this, node);
        line += "input " + name;
        if (large_constants) large_constants->emplace_back(name, value);
      }
    } else {
      line += name_of(node.op);
      for (ValueId input : node.inputs) line += fmt::format(" %{}", input);
      std::string attributes = joined(node.attributes, ", ", [](const auto& item) {
        return item.first + "=" + attribute_text(item.second);
      });
      if (!attributes.empty()) line += " {" + attributes + "}";
    }
    text += line + " : " + type_text(type(node.output)) + "\n";
  }
  for (const NamedValue& output : outputs_)
    text += fmt::format("output {} %{}\n", output.name, output.value);
  return text;
}

}  // namespace fuseline
