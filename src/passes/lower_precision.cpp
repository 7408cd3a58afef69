// Which values are lowered, and the casts at the borders.
#include "passes/lower_precision.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/fail.hpp"
#include "fuseline/ops.hpp"
#include "graph/op_table.hpp"
#include "graph/scalar.hpp"
#include "passes/rewriter.hpp"

namespace fuseline {
namespace {

enum class Width : std::uint8_t {
  other,     // not f32
  constant,  // takes the type of its user
  free,      // f32 that may be cast at any time: inputs, explicit casts, kept nodes
  low,
  wide,  // f32, and so is what follows it element by element
};

bool is_contraction(OpCode op) { return info(op).space != nullptr; }

// Values that integers are computed from, back to the next sum.
std::vector<bool> find_positions(const Graph& graph) {
  std::vector<bool> position(graph.value_count());
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    bool to_integer = node.op == OpCode::cast && is_integer(graph.type(node.output).dtype);
    bool passes_on = position[node.output] && info(node.op).group != OpGroup::reduction;
    if (!to_integer && !passes_on) continue;
    for (ValueId input : node.inputs)
      if (graph.type(input).dtype == DType::f32) position[input] = true;
  }
  return position;
}

Number element(const Tensor& tensor, std::int64_t i) {
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  return load_number(tensor.as<const char>() + i * width, tensor.dtype());
}

Tensor converted(const Tensor& tensor, DType to) {
  Tensor result = Tensor::allocate(to, tensor.shape());
  auto width = static_cast<std::int64_t>(size_of(to));
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    store_number(result.as<char>() + i * width, to, convert(element(tensor, i), DType::f32, to));
  return result;
}

class Lowering {
 public:
  Lowering(const Graph& graph, DType low, const std::vector<std::string>& kept)
      : graph_(graph),
        low_(low),
        kept_(kept),
        rewriter_(graph),
        width_(graph.value_count()),
        in_low_(graph.value_count()),
        in_f32_(graph.value_count()) {}

  Graph run() {
    position_ = find_positions(graph_);
    depends_on_input_.assign(graph_.value_count(), false);
    coordinate_.assign(graph_.value_count(), false);
    for (const Node& node : graph_.nodes()) {
      width_[node.output] = classify(node);
      rewrite(node);
    }
    for (const NamedValue& output : graph_.outputs())
      if (width_[output.value] == Width::low) {
        rewriter_.graph().set_origin(graph_.node_of(output.value).origin);
        rewriter_.replace(output.value, as_f32(output.value));
      }
    rewriter_.graph().set_origin({});
    return rewriter_.finish();
  }

 private:
  bool is_kept(const Node& node) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const std::string& name) {
      return node.origin == name || node.origin.starts_with(name + "/");
    });
  }

  // f16 ends at 65504 and at 6e-8: a constant beyond that would become infinite or, where all
  // depends on it, 0.
  bool fits(ValueId value) const {
    if (low_ == DType::bf16) return true;
    const Tensor& tensor = graph_.node_of(value).attributes.tensor("value");
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      Number number = element(tensor, i);
      double rounded = convert(number, DType::f32, DType::f16).d;
      if (std::isfinite(number.d) && !std::isfinite(rounded)) return false;
      if (tensor.size() == 1 && number.d != 0 && rounded == 0) return false;
    }
    return true;
  }

  bool any(const Node& node, Width width) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId input) { return width_[input] == width; });
  }

  Width classify(const Node& node) {
    bool depends = node.op == OpCode::input;
    bool coordinate = node.op == OpCode::iota || node.op == OpCode::dim_value;
    for (ValueId input : node.inputs) {
      depends = depends || depends_on_input_[input];
      coordinate = coordinate || coordinate_[input];
    }
    depends_on_input_[node.output] = depends;
    coordinate_[node.output] = coordinate;
    if (graph_.type(node.output).dtype != DType::f32) return Width::other;
    if (node.op == OpCode::constant) return Width::constant;
    if (node.op == OpCode::input || node.op == OpCode::cast) return Width::free;
    if ((!depends && coordinate) || position_[node.output]) return Width::wide;
    if (!depends) return Width::free;  // folded later, and then rounded once
    if (is_kept(node)) return Width::free;
    for (ValueId input : node.inputs)
      if (width_[input] == Width::constant && !fits(input)) return Width::free;
    if (is_contraction(node.op)) return Width::low;
    if (node.op == OpCode::reduce_sum || node.op == OpCode::reduce_prod) return Width::wide;
    if (info(node.op).group == OpGroup::elementwise)
      return any(node, Width::wide) ? Width::wide : Width::low;
    bool lowered = any(node, Width::low) || any(node, Width::free);
    return any(node, Width::wide) && !lowered ? Width::wide : Width::low;
  }

  void rewrite(const Node& node) {
    if (node.op == OpCode::input || node.op == OpCode::constant) return rewriter_.copy(node);
    Graph& to = rewriter_.graph();
    to.set_origin(node.origin);
    std::vector<Value> operands;
    for (ValueId input : node.inputs) {
      bool is_f32 = width_[input] != Width::other;
      ValueId made = !is_f32                             ? rewriter_[input]
                     : width_[node.output] == Width::low ? as_low(input)
                                                         : as_f32(input);
      operands.push_back(to.value(made));
    }
    rewriter_.replace(node.output, to.apply(node.op, operands, node.attributes).id());
    to.set_origin({});
  }

  ValueId as_low(ValueId value) {
    if (width_[value] == Width::low) return rewriter_[value];
    auto& made = in_low_[value];
    if (!made) {
      Graph& to = rewriter_.graph();
      made = width_[value] == Width::constant
                 ? to.apply(OpCode::constant, {},
                            {{"value",
                              converted(graph_.node_of(value).attributes.tensor("value"), low_)}})
                       .id()
                 : cast(to.value(rewriter_[value]), low_).id();
    }
    return *made;
  }

  ValueId as_f32(ValueId value) {
    if (width_[value] != Width::low) return rewriter_[value];
    auto& made = in_f32_[value];
    if (!made) made = cast(rewriter_.graph().value(rewriter_[value]), DType::f32).id();
    return *made;
  }

  const Graph& graph_;
  DType low_;
  const std::vector<std::string>& kept_;
  Rewriter rewriter_;
  std::vector<Width> width_;
  std::vector<bool> position_, depends_on_input_, coordinate_;
  std::vector<std::optional<ValueId>> in_low_, in_f32_;  // casts that were made
};

}  // namespace

Graph lower_precision(const Graph& graph, DType low, const std::vector<std::string>& kept) {
  return Lowering(graph, low, kept).run();
}

}  // namespace fuseline
