// The graphs that the benchmarks run.
#include "graphs.hpp"

#include "fuseline/ops.hpp"

namespace fuseline::bench {

Graph mask_graph(std::int64_t limit) {
  Graph graph;
  Value frame = graph.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), 3});
  Value mask = threshold(gray(frame), static_cast<double>(limit), 255);
  graph.output("mask", mask);
  graph.output("area", count(mask));
  return graph;
}

Graph chain_graph(const ChainNumbers& numbers) {
  Graph graph;
  Value x = graph.input("x", DType::f32, {Dim::symbol("H"), Dim::symbol("W")});
  graph.output("y", log(1 + exp(tanh((x - numbers.a) / numbers.b)) * numbers.c));
  return graph;
}

}  // namespace fuseline::bench
