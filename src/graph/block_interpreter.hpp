// ScalarInterpreter for a block of coordinates at once: every step is one loop.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/scalar.hpp"

namespace fuseline {

class BlockInterpreter {
 public:
  static constexpr std::size_t capacity = 256;
  using Read = std::function<Number(int source, std::span<const std::int64_t> indices)>;

  // `dag` and `dims` must outlive the interpreter.
  BlockInterpreter(const ScalarDag& dag, ScalarId root, bool round_each, const DimBindings& dims,
                   Read read);
  // The root at `count` coordinates; coordinate k of an axis stands at coords[axis * capacity + k].
  std::span<const Number> run(std::span<const std::int64_t> coords, std::size_t count);

 private:
  Number* lanes(ScalarId id) { return values_.data() + id * capacity; }
  void step(const ScalarStep& s, std::span<const std::int64_t> coords, std::size_t count);
  void read(const ScalarStep& s, std::size_t count);

  const ScalarDag& dag_;
  const DimBindings& dims_;
  Read read_;
  ScalarId root_;
  std::vector<ScalarStep> uniform_, varying_;
  std::vector<Number> values_;  // capacity lanes a node
  bool started_ = false;
};

}  // namespace fuseline
