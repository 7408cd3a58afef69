// What the operations need of concrete sizes.
#include "graph/check_sizes.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "graph/kernel_ops.hpp"
#include "graph/node_label.hpp"
#include "graph/op_table.hpp"

namespace fuseline {
namespace {

// Sizes of one node under one set of bindings.
class SizeCheck {
 public:
  SizeCheck(const Graph& graph, const Node& node, const DimBindings& bindings)
      : graph_(graph), node_(node), bindings_(bindings) {}

  void run() {
    for (const auto& [name, attribute] : node_.attributes)
      if (const auto* dims = std::get_if<Dims>(&attribute)) numbers(*dims);
    const ValueType& type = graph_.type(node_.output);
    result_ = shape(type.dims);
    check_total(type);
    switch (node_.op) {
      case OpCode::reshape:
        check_reshape();
        break;
      case OpCode::slice:
        check_slice();
        break;
      case OpCode::gather:
        check_gather();
        break;
      case OpCode::pad:
        check_pad();
        break;
      case OpCode::resize:
        check_resize();
        break;
      case OpCode::conv:
      case OpCode::conv_transpose:
      case OpCode::window:
        check_places();
        break;
      case OpCode::nv12_to_rgb:
        check_nv12();
        break;
      default:
        break;
    }
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {}", node_label(node_), fmt::format(format, std::forward<Args>(args)...));
  }

  Shape numbers(const Dims& dims) const {
    Shape values;
    for (const Dim& dim : dims) try {
        values.push_back(dim.evaluate(bindings_));
      } catch (const Error& error) {
        refuse("{}", error.what());
      }
    return values;
  }

  Shape shape(const Dims& dims) const {
    Shape values = numbers(dims);
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      if (values[axis] < 0)
        refuse("axis {} would have size {} ({})", axis, values[axis], dims[axis].to_string());
    return values;
  }

  Shape operand(std::size_t i) const { return shape(graph_.type(node_.inputs[i]).dims); }
  bool is_empty() const { return element_count(result_) == 0; }

  void check_total(const ValueType& type) const {
    __int128 bytes = static_cast<__int128>(size_of(type.dtype));
    for (std::int64_t extent : result_) {
      bytes *= std::max<std::int64_t>(extent, 1);  // as strides count an empty axis
      if (bytes > (static_cast<__int128>(1) << 62))
        refuse("{}{} is more than 2^62 bytes", name_of(type.dtype), to_string(result_));
    }
  }

  void check_reshape() const {
    std::int64_t before = element_count(operand(0)), after = element_count(result_);
    if (before != after)
      refuse("{} has {} elements, {} has {}", to_string(operand(0)), before, to_string(result_),
             after);
  }

  void check_slice() const {
    if (is_empty()) return;
    Shape from = operand(0), starts = numbers(node_.attributes.dims("starts"));
    const auto& steps = node_.attributes.integers("steps");
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      __int128 first = starts[axis];
      __int128 last = first + static_cast<__int128>(result_[axis] - 1) * steps[axis];
      if (std::min(first, last) < 0 || std::max(first, last) >= from[axis])
        refuse("axis {}: {} elements from {} with step {} leave the operand's {}", axis,
               result_[axis], starts[axis], steps[axis], from[axis]);
    }
  }

  void check_gather() const {
    auto axis = static_cast<std::size_t>(node_.attributes.integer("axis"));
    if (!is_empty() && operand(0)[axis] == 0) refuse("axis {} has no elements to pick", axis);
  }

  void check_pad() const {
    if (is_empty() || node_.attributes.text("mode") == "constant") return;
    Shape from = operand(0);
    for (std::size_t axis = 0; axis < from.size(); ++axis)
      if (from[axis] == 0) refuse("axis {} has no elements to repeat", axis);
  }

  void check_resize() const {
    if (!is_empty() && element_count(operand(0)) == 0)
      refuse("{} has no elements to resample", to_string(operand(0)));
  }

  // Places outside read the nearest element, so there must be one.
  void check_places() const {
    if (!is_empty() && element_count(operand(0)) == 0)
      refuse("{} has no elements to slide over", to_string(operand(0)));
    if (node_.op != OpCode::conv && node_.op != OpCode::conv_transpose) return;
    std::int64_t channels = operand(1)[0], groups = node_.attributes.integer("groups");
    if (channels % groups != 0)
      refuse("{} channels cannot be divided into {} groups", channels, groups);
  }

  void check_nv12() const {
    Shape y = operand(0), uv = operand(1);
    Shape wanted = {y[0] / 2 + y[0] % 2, y[1] / 2 + y[1] % 2, 2};
    if (uv != wanted)
      refuse("chroma {} for luma {}, {} is needed", to_string(uv), to_string(y), to_string(wanted));
  }

  const Graph& graph_;
  const Node& node_;
  const DimBindings& bindings_;
  Shape result_;
};

}  // namespace

Shape shape_of(const Dims& dims, const DimBindings& bindings) {
  Shape shape;
  for (const Dim& dim : dims) {
    shape.push_back(dim.evaluate(bindings));
    if (shape.back() < 0) fail("size {} would be {}", dim.to_string(), shape.back());
  }
  return shape;
}

void check_sizes(const Graph& graph, const DimBindings& bindings) {
  for (const Node& node : graph.nodes())
    if (late_names(graph, node).empty()) check_sizes(graph, node, bindings);
}

void check_sizes(const Graph& graph, const Node& node, const DimBindings& bindings) {
  SizeCheck(graph, node, bindings).run();
}

}  // namespace fuseline
