// Sorting, prefixes, placing and suppression by plain loops.
#include "graph/evaluate_kernel.hpp"

#include <algorithm>
#include <numeric>

#include "base/fail.hpp"
#include "graph/check_sizes.hpp"
#include "graph/evaluate_source.hpp"
#include "graph/kernel_ops.hpp"

namespace fuseline {
namespace {

Number number_of(const Number& x) { return x; }
Number number_of(const Bounded& x) { return x.value; }
bool is_certain(const Number&) { return true; }
bool is_certain(const Bounded& x) { return x.is_exact(); }

template <class Element>
Element certainly(Number value) {
  if constexpr (std::is_same_v<Element, Number>)
    return value;
  else
    return Bounded::exactly(value);
}

// Any of the integers from `low` to `high`; a Number knows no doubt.
template <class Element>
Element between(Number value, std::int64_t low, std::int64_t high) {
  if constexpr (std::is_same_v<Element, Number>)
    return value;
  else
    return Bounded{value, {.i = low}, {.i = high}};
}

template <class Element>
Element unknown(Number value, DType dtype) {
  if constexpr (std::is_same_v<Element, Number>)
    return value;
  else
    return anything(value, dtype);
}

OpCode reduction_of(Intrinsic combine) {
  switch (combine) {
    case Intrinsic::add:
      return OpCode::reduce_sum;
    case Intrinsic::mul:
      return OpCode::reduce_prod;
    case Intrinsic::min:
      return OpCode::reduce_min;
    case Intrinsic::max:
      return OpCode::reduce_max;
    default:
      fail_internal("not a combining intrinsic");
  }
}

// NaN above every number.
bool is_before(Number a, Number b, DType dtype, bool descending) {
  if (descending) std::swap(a, b);
  bool a_nan = is_float(dtype) && a.d != a.d, b_nan = is_float(dtype) && b.d != b.d;
  if (a_nan || b_nan) return b_nan && !a_nan;
  return is_less(a, b, dtype);
}

template <class Element>
class KernelNode {
  using Accumulator =
      std::conditional_t<std::is_same_v<Element, Number>, Reduction, BoundedReduction>;

 public:
  KernelNode(const Graph& graph, const Node& node, const DimBindings& bindings,
             const Reader<Element>& read)
      : graph_(graph), node_(node), bindings_(bindings), read_(read) {
    result_.resize(static_cast<std::size_t>(element_count(shape(node.output))));
  }

  std::vector<Element> run() {
    switch (node_.op) {
      case OpCode::sort_indices:
        for_each_row([&](const std::vector<Element>& row, auto place) { sort(row, place); });
        break;
      case OpCode::scan:
        for_each_row([&](const std::vector<Element>& row, auto place) { scan(row, place); });
        break;
      case OpCode::scatter:
        scatter();
        break;
      case OpCode::suppress:
        suppress();
        break;
      case OpCode::bit_cast:
        bit_cast();
        break;
      case OpCode::late_size:
        result_[0] = read_(0, {});
        break;
      default:
        fail_internal("an operation that is no kernel");
    }
    return std::move(result_);
  }

 private:
  Shape shape(ValueId value) const { return shape_of(graph_.type(value).dims, bindings_); }
  DType dtype(std::size_t operand) const { return graph_.type(node_.inputs[operand]).dtype; }

  std::vector<Element> operand(int i) const {
    Shape extents = shape(node_.inputs[static_cast<std::size_t>(i)]), index(extents.size(), 0);
    std::vector<Element> elements;
    for (std::int64_t n = element_count(extents); n > 0; --n, advance(index, extents))
      elements.push_back(read_(i, index));
    return elements;
  }

  template <class Work>
  void for_each_row(Work&& work) {
    AxisView view(shape(node_.output), static_cast<std::size_t>(node_.attributes.integer("axis")));
    std::vector<Element> all = operand(0), row(static_cast<std::size_t>(view.extent));
    for (std::int64_t r = 0; r < view.rows() && view.extent > 0; ++r) {
      auto at = [&](std::size_t i) {
        return static_cast<std::size_t>(
            (r / view.inner * view.extent + static_cast<std::int64_t>(i)) * view.inner +
            r % view.inner);
      };
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = all[at(i)];
      work(row, [&](std::size_t i) -> Element& { return result_[at(i)]; });
    }
  }

  template <class Place>
  void sort(const std::vector<Element>& row, Place place) const {
    bool descending = node_.attributes.integer_or("descending", 0) != 0;
    std::vector<std::int64_t> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return is_before(number_of(row[static_cast<std::size_t>(a)]),
                       number_of(row[static_cast<std::size_t>(b)]), dtype(0), descending);
    });
    bool certain =
        std::all_of(row.begin(), row.end(), [](const Element& e) { return is_certain(e); });
    auto last = static_cast<std::int64_t>(row.size()) - 1;
    for (std::size_t i = 0; i < row.size(); ++i)
      place(i) = certain ? certainly<Element>({.i = order[i]})
                         : between<Element>({.i = order[i]}, 0, last);
  }

  template <class Place>
  void scan(const std::vector<Element>& row, Place place) const {
    bool exclusive = node_.attributes.integer_or("exclusive", 0) != 0;
    bool reverse = node_.attributes.integer_or("reverse", 0) != 0;
    Accumulator total(reduction_of(*combine_of(node_.attributes)), dtype(0));
    for (std::size_t k = 0; k < row.size(); ++k) {
      std::size_t i = reverse ? row.size() - 1 - k : k;
      if (exclusive) place(i) = total.result();
      total.add(row[i]);
      if (!exclusive) place(i) = total.result();
    }
  }

  void scatter() {
    Shape extents = shape(node_.output);
    auto columns = static_cast<std::size_t>(extents[1]);
    std::vector<Element> data = operand(0), indices = operand(1), updates = operand(2);
    bool certain =
        std::all_of(indices.begin(), indices.end(), [](const Element& e) { return is_certain(e); });
    auto combine = combine_of(node_.attributes);
    std::vector<std::vector<std::size_t>> hits(static_cast<std::size_t>(extents[0]));
    for (std::size_t m = 0; m < indices.size(); ++m) {
      std::int64_t row = number_of(indices[m]).i;
      if (row >= 0 && row < extents[0]) hits[static_cast<std::size_t>(row)].push_back(m);
    }
    for (std::size_t n = 0; n < data.size(); ++n) {
      const std::vector<std::size_t>& of_row = hits[n / columns];
      auto update = [&](std::size_t m) { return updates[m * columns + n % columns]; };
      if (of_row.empty()) {
        result_[n] = data[n];
      } else if (!combine) {
        result_[n] = update(of_row.back());
      } else {
        Accumulator total(reduction_of(*combine), dtype(0));
        total.add(data[n]);
        for (std::size_t m : of_row) total.add(update(m));
        result_[n] = total.result();
      }
      if (!certain) result_[n] = unknown<Element>(number_of(result_[n]), dtype(0));
    }
  }

  struct Box {
    float y0, x0, y1, x1;
    float area() const { return (y1 - y0) * (x1 - x0); }
  };

  static bool overlap_too_much(const Box& a, const Box& b, float limit) {
    float height = std::max(0.0f, std::min(a.y1, b.y1) - std::max(a.y0, b.y0));
    float width = std::max(0.0f, std::min(a.x1, b.x1) - std::max(a.x0, b.x0));
    float common = height * width;
    float together = a.area() + b.area() - common;
    return together > 0 && common / together > limit;
  }

  void suppress() {
    Shape extents = shape(node_.output);
    std::vector<Element> corners = operand(0), candidates = operand(1);
    auto limit = static_cast<float>(number_of(read_(2, {})).d);
    std::int64_t most = number_of(read_(3, {})).i;
    bool certain = is_certain(read_(2, {})) && is_certain(read_(3, {}));
    for (const std::vector<Element>* list : {&corners, &candidates})
      for (const Element& e : *list) certain = certain && is_certain(e);
    auto box = [&](std::size_t i) {
      auto c = [&](std::size_t k) { return static_cast<float>(number_of(corners[4 * i + k]).d); };
      return Box{std::min(c(0), c(2)), std::min(c(1), c(3)), std::max(c(0), c(2)),
                 std::max(c(1), c(3))};
    };
    auto count = static_cast<std::size_t>(extents[1]);
    for (std::size_t first = 0; first < result_.size(); first += count) {
      std::vector<std::size_t> kept;
      for (std::size_t i = first; i < first + count; ++i) {
        bool stays =
            number_of(candidates[i]).u != 0 && static_cast<std::int64_t>(kept.size()) < most;
        for (std::size_t k = 0; stays && k < kept.size(); ++k)
          stays = !overlap_too_much(box(kept[k]), box(i), limit);
        if (stays) kept.push_back(i);
        Number value{.u = stays};
        result_[i] = certain ? certainly<Element>(value) : between<Element>(value, 0, 1);
      }
    }
  }

  void bit_cast() {
    DType from = dtype(0), to = graph_.type(node_.output).dtype;
    std::vector<Element> elements = operand(0);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::uint64_t bits = 0;
      store_number(&bits, from, number_of(elements[i]));
      if (is_bool(to)) bits = bits != 0;
      Number value = load_number(&bits, to);
      result_[i] =
          is_certain(elements[i]) ? certainly<Element>(value) : unknown<Element>(value, to);
    }
  }

  const Graph& graph_;
  const Node& node_;
  const DimBindings& bindings_;
  const Reader<Element>& read_;
  std::vector<Element> result_;
};

}  // namespace

template <class Element>
std::vector<Element> compute_kernel(const Graph& graph, const Node& node,
                                    const DimBindings& bindings, const Reader<Element>& read) {
  return KernelNode<Element>(graph, node, bindings, read).run();
}

template std::vector<Number> compute_kernel(const Graph&, const Node&, const DimBindings&,
                                            const Reader<Number>&);
template std::vector<Bounded> compute_kernel(const Graph&, const Node&, const DimBindings&,
                                             const Reader<Bounded>&);

bool kernel_keeps_exactness(const Graph& graph, const Node& node) {
  if (node.op != OpCode::scan && node.op != OpCode::scatter) return true;
  auto combine = combine_of(node.attributes);
  bool chooses = !combine || *combine == Intrinsic::min || *combine == Intrinsic::max;
  return chooses || !is_float(graph.type(node.output).dtype);
}

}  // namespace fuseline
