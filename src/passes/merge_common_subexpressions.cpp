// Merging by a key of operation, operands and attributes.
#include "passes/merge_common_subexpressions.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "passes/rewriter.hpp"

namespace fuseline {
namespace {

constexpr std::int64_t largest_compared = 4096;  // bytes of a constant; above, the same memory

void append(std::string& key, const void* data, std::size_t bytes) {
  key.append(static_cast<const char*>(data), bytes);
}
void append(std::string& key, std::uint64_t number) { append(key, &number, sizeof number); }

void append_text(std::string& key, std::string_view text) {
  append(key, text.size());
  key += text;
}

void append_tensor(std::string& key, const Tensor& tensor) {
  append(key, static_cast<std::uint64_t>(tensor.dtype()));
  append_text(key, to_string(tensor.shape()));
  bool small = tensor.bytes() <= largest_compared;
  append(key, small);
  if (small)
    append(key, tensor.data(), static_cast<std::size_t>(tensor.bytes()));
  else
    append(key, std::bit_cast<std::uintptr_t>(tensor.data()));
}

void append_attribute(std::string& key, const Attribute& attribute) {
  append(key, attribute.index());
  if (const auto* v = std::get_if<std::int64_t>(&attribute))
    append(key, static_cast<std::uint64_t>(*v));
  if (const auto* v = std::get_if<double>(&attribute))
    append(key, std::bit_cast<std::uint64_t>(*v));
  if (const auto* v = std::get_if<std::string>(&attribute)) append_text(key, *v);
  if (const auto* v = std::get_if<DType>(&attribute)) append(key, static_cast<std::uint64_t>(*v));
  if (const auto* v = std::get_if<Dims>(&attribute)) append_text(key, to_string(*v));
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    append(key, v->size());
    append(key, v->data(), v->size() * sizeof(std::int64_t));
  }
  if (const auto* v = std::get_if<Tensor>(&attribute)) append_tensor(key, *v);
}

std::string key_of(const Rewriter& rewriter, const Node& node) {
  std::string key;
  append(key, static_cast<std::uint64_t>(node.op));
  append(key, node.inputs.size());
  for (ValueId input : node.inputs) append(key, rewriter[input]);
  std::vector<std::pair<std::string, Attribute>> sorted(node.attributes.begin(),
                                                        node.attributes.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, attribute] : sorted) {
    append_text(key, name);
    append_attribute(key, attribute);
  }
  return key;
}

}  // namespace

Graph merge_common_subexpressions(const Graph& graph) {
  Rewriter rewriter(graph);
  std::unordered_map<std::string, ValueId> known;
  for (const Node& node : graph.nodes()) {
    if (node.op == OpCode::input) {
      rewriter.copy(node);
      continue;
    }
    std::string key = key_of(rewriter, node);
    if (auto found = known.find(key); found != known.end()) {
      rewriter.replace(node.output, found->second);
    } else {
      rewriter.copy(node);
      known.emplace(std::move(key), rewriter[node.output]);
    }
  }
  return rewriter.finish();
}

}  // namespace fuseline
