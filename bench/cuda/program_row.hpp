// Programs as rows: many runs, each with its own tensors, in one recording.
#pragma once

#include <memory>

#include "cuda/harness.hpp"
#include "fuseline/program.hpp"

namespace fuseline::bench {

// The tensors of one run, all on the device.
struct Run {
  TensorMap inputs, outputs;
};

// Device time of a Program whose runs are one after the other in one recording, which a Lane would
// record one by one.
Row program_row(Session& session, std::string name, const Graph& graph,
                const CompileOptions& options, const std::vector<Run>& runs, double bytes);

// The same once for each launch shape that a Program of one kernel can choose from: whether it
// chose well. They are a family of the given name.
std::vector<Row> shape_rows(Session& session, const std::string& family, const Graph& graph,
                            const std::vector<Run>& runs, double bytes);

// Wall time of Lane::run, which waits for the result.
Row lane_row(Session& session, std::string name, const Graph& graph, const CompileOptions& options,
             const Run& run, double bytes);

// The recording of one run, twice: wall time of Queue::replay and Queue::wait, and device time of
// replays one behind the other.
std::vector<Row> recorded_rows(Session& session, const std::string& prefix, const Graph& graph,
                               const CompileOptions& options, const Run& run);

}  // namespace fuseline::bench
