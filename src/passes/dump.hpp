// FUSELINE_DUMP: the graph's text after every pass, or "unchanged".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fuseline/graph.hpp"

namespace fuseline {

// Writes graph<K>_<step>_<pass>.txt into the folder of FUSELINE_DUMP; K counts the compilations of
// the process. Does nothing where the variable is not set.
class GraphDump {
 public:
  GraphDump();
  void write(std::string_view pass, const Graph& graph);

 private:
  std::optional<std::string> folder_;
  int compilation_ = 0;
  int step_ = 0;
  std::string last_;
};

}  // namespace fuseline
