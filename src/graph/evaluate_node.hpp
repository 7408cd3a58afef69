// One node's meaning, ready to be computed element by element.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "fuseline/graph.hpp"
#include "graph/bounded.hpp"
#include "graph/op_table.hpp"

namespace fuseline {

// Element of operand `operand` at an index inside it.
template <class Element>
using Reader = std::function<Element(int operand, std::span<const std::int64_t> index)>;

// Interprets a scalar DAG on intervals; see ScalarInterpreter.
class BoundedInterpreter {
 public:
  BoundedInterpreter(const ScalarDag& dag, ScalarId root, bool round_each, const DimBindings& dims,
                     Reader<Bounded> read);
  Bounded run(std::span<const std::int64_t> coords);

 private:
  void step(const ScalarStep& s, std::span<const std::int64_t> coords);
  Bounded read(const ScalarStep& s);

  const ScalarDag& dag_;
  ScalarId root_;
  bool round_each_;
  const DimBindings& dims_;
  Reader<Bounded> read_;
  std::vector<ScalarStep> uniform_, varying_;
  std::vector<Bounded> values_;
  std::vector<std::int64_t> indices_;
  bool started_ = false;
};

// Element is Number or Bounded. Not for inputs and constants, whose elements are stored.
template <class Element>
class NodeProgram {
 public:
  // All arguments except `read` must outlive the program.
  NodeProgram(const Graph& graph, const Node& node, const DimBindings& bindings,
              Reader<Element> read);
  ~NodeProgram();
  NodeProgram(NodeProgram&&) noexcept;
  // The element of the result, rounded to its type.
  Element at(std::span<const std::int64_t> index);
  // All elements of a result of this shape, in row-major order.
  void run(const Shape& shape, const std::function<void(const Element&)>& emit);
  // Exact operands give exact results, on every element.
  bool keeps_exactness() const;

 private:
  struct Pull;
  struct Reduce;
  struct Whole;
  std::unique_ptr<Pull> pull_;
  std::unique_ptr<Reduce> reduce_;
  std::unique_ptr<Whole> whole_;  // of the kernel group
};

// What a reduction has seen so far. arg_max and arg_min: the first of equals, and the first NaN
// where there is one.
class Reduction {
 public:
  Reduction(OpCode op, DType dtype);
  void add(Number x);
  Number total() const;   // floats in double
  Number result() const;  // rounded to the result's type

 private:
  bool wins(Number x) const;

  DType dtype_;
  ReductionInfo info_;
  std::int64_t count_ = 0;
  std::int64_t best_ = 0;
  Number total_;
  double lost_ = 0;  // compensation of a float sum
};

class BoundedReduction {
 public:
  BoundedReduction(OpCode op, DType dtype);
  void add(const Bounded& x);
  Bounded result() const;

 private:
  void add_real(const Bounded& x);
  Bounded index_result() const;
  Bounded integer_result() const;
  Bounded real_result() const;
  double error() const;

  DType dtype_;
  ReductionInfo info_;
  Reduction value_, low_, high_;
  std::vector<Bounded> terms_;  // arg_min and arg_max
  Bounded product_;
  std::int64_t count_ = 0;
  bool exact_ = true;
  bool anything_ = false;  // a term may be anything
  bool nan_ = false;       // a term is NaN
  double magnitude_ = 0;   // sum of |finite terms|
  double growth_ = 0;      // sum of log2 |term| over the terms above 1,
  double decay_ = 0;       // and over those below
  __int128 low_sum_ = 0, high_sum_ = 0;
};

}  // namespace fuseline
