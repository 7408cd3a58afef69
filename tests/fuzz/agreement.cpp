// Whether a Program agrees with the reference on a random case.
#include "fuzz/agreement.hpp"

#include <fmt/format.h>

#include "fuseline/error.hpp"

namespace fuseline::fuzz {

// Runs a Program at one of a case's sizes and compares; the first disagreement as text.
std::optional<std::string> disagreement(const Program& program, const Case& c, std::size_t round,
                                        std::uint64_t seed,
                                        const std::vector<Evaluated>& expected) {
  const DimBindings& sizes = c.sizes[round];
  TensorMap inputs = random_inputs(*c.graph, sizes, seed + round), outputs;
  std::vector<GuardedTensor> tensors;
  for (const NamedValue& output : c.graph->outputs()) {
    const ValueType& type = c.graph->type(output.value);
    tensors.emplace_back(type.dtype, shape_of(type.dims, sizes), (seed + tensors.size()) % 16);
    tensors.back().poison();
  }
  for (std::size_t i = 0; i < tensors.size(); ++i)
    outputs.emplace_back(c.graph->outputs()[i].name, tensors[i].tensor());
  // Twice: the second run finds what the first one left behind.
  for (int run = 0; run < 2; ++run) {
    try {
      program.run(inputs, outputs);
    } catch (const Error& error) {
      return fmt::format("run {}: {}", run, error.what());
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const NamedValue& output = c.graph->outputs()[i];
      if (!tensors[i].guards_intact())
        return fmt::format("{}: wrote outside its memory", output.name);
      Comparison comparison = compare_with_oracle(tensors[i].tensor(), expected[output.value]);
      if (!comparison.first) continue;
      return fmt::format("run {}: {} at {}: {} instead of {} {} ({} of {} elements differ)", run,
                         output.name, to_string(comparison.first->index), comparison.first->actual,
                         comparison.first->expected, comparison.first->allowed,
                         comparison.mismatches, comparison.elements);
    }
    for (GuardedTensor& tensor : tensors) tensor.poison();
  }
  return std::nullopt;
}

std::vector<Evaluated> oracle(const Case& c, std::size_t round, std::uint64_t seed) {
  return evaluate_bounded(*c.graph, random_inputs(*c.graph, c.sizes[round], seed + round));
}

// Compares at every size of the case.
std::optional<std::string> check(const Case& c, std::uint64_t seed, const MakeProgram& make) {
  Program program = make(*c.graph);
  for (std::size_t round = 0; round < c.sizes.size(); ++round)
    if (auto fault = disagreement(program, c, round, seed, oracle(c, round, seed)))
      return fmt::format("{} at size {}", *fault, round);
  return std::nullopt;
}

}  // namespace fuseline::fuzz
