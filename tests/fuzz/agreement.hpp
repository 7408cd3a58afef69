// Whether a Program agrees with the reference on a random case.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fuzz/random_graph.hpp"
#include "graph/evaluate.hpp"
#include "program/program_impl.hpp"

namespace fuseline::fuzz {

inline constexpr int all_operations = 100;

// What evaluate says of a case at one of its sizes.
std::vector<Evaluated> oracle(const Case& c, std::size_t round, std::uint64_t seed);
// Runs a Program at one of a case's sizes and compares; the first disagreement as text.
std::optional<std::string> disagreement(const Program& program, const Case& c, std::size_t round,
                                        std::uint64_t seed, const std::vector<Evaluated>& expected);

using MakeProgram = std::function<Program(const Graph&)>;
// Compares at every size of the case.
std::optional<std::string> check(const Case& c, std::uint64_t seed, const MakeProgram& make);

// Launch shapes by the seed, so that all of them are met.
inline Choices shapes_by(std::uint64_t seed) {
  return {.shape = [seed](const std::string&, std::span<const LaunchShape> shapes) {
    return seed % shapes.size();
  }};
}

}  // namespace fuseline::fuzz
