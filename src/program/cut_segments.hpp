// Late sizes cut a graph: what comes behind one is a graph of its own, for which the size is an
// input that the host has read.
#pragma once

#include <vector>

#include "fuseline/graph.hpp"

namespace fuseline {

struct Segment {
  Graph graph;
  // Outputs that are no outputs of the whole graph: values that later segments read, and sizes.
  std::vector<std::string> crossing, sizes;
  std::string reason;  // why it begins where it does
};

bool has_late_sizes(const Graph& graph);

// In the order in which they run. Every input of a segment is an input of the whole graph or an
// earlier segment's output of the same name.
std::vector<Segment> cut_segments(const Graph& graph);

}  // namespace fuseline
