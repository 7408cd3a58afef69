// The contract of a graph for a kernel that somebody else writes: its name, its arguments, what it
// computes, and what it may rely on.
#pragma once

#include <string>
#include <vector>

#include "fuseline/graph.hpp"

namespace fuseline::foreign {

// A pointer argument.
struct Argument {
  std::string name;      // in C
  std::string of_graph;  // the name of the graph's input or output
  DType dtype = DType::u8;
  Dims dims;
  bool is_output = false;
  bool is_cleared = false;  // zeros when the kernel starts: a reduction adds to it
};

struct Contract {
  Graph graph;
  std::string kernel;               // the function's name
  std::vector<Argument> arguments;  // inputs, then outputs
  std::vector<std::string>
      symbols;  // sizes in the graph's words, `int` arguments behind the pointers
  std::vector<std::string> sizes;  // the same as names in C
  Dims space;                      // what the grid covers: the largest output or reduced value
};

// Lowest architecture that Fuseline supports, as NVRTC names it without "sm_".
inline constexpr int minimum_sm = 75;

// Throws Error where a size of the graph depends on data: no kernel could be given its memory.
Contract contract_of(Graph graph, const std::string& pipeline);

// "const unsigned char*": the C type of an argument.
std::string pointer_type(const Argument& argument);
// The declaration, without `extern "C"` and ending with ")".
std::string signature_of(const Contract& contract);
// "void(const unsigned char*, int)".
std::string function_type(const Contract& contract);

}  // namespace fuseline::foreign
