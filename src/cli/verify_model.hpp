// A model's program against the same model unfused in fp32: its outputs, and the values in between.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/tensor_difference.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {

// What was compared: an output, a node of the model, a point of a library call.
struct CheckRow {
  std::string name;
  Difference difference;
};

bool all_fine(const std::vector<CheckRow>& rows);

class ModelCheck {
 public:
  // `options` are those of the checked program; the reference is unfused fp32 on the same device.
  ModelCheck(const Graph& graph, const TensorMap& inputs, CompileOptions options,
             Tolerance tolerance)
      : graph_(graph), inputs_(inputs), options_(std::move(options)), tolerance_(tolerance) {}

  std::vector<CheckRow> outputs() const { return outputs(options_); }
  // Of a program with other options against the same reference.
  std::vector<CheckRow> outputs(const CompileOptions& options) const;

  // Every value that the program stores and that is the result of a node of the model, in the
  // model's order. The values are made outputs, some at a time, so that all come of few runs.
  std::vector<CheckRow> nodes() const;

 private:
  struct Stored {
    std::string name;  // of the model's node
    ValueId value;     // in graph_
  };
  std::vector<Stored> stored_values() const;
  std::vector<Tensor> run(const Graph& graph, const CompileOptions& options) const;
  CompileOptions reference() const;
  void compare(const std::vector<Stored>& values, std::vector<CheckRow>& rows) const;

  const Graph& graph_;
  const TensorMap& inputs_;
  CompileOptions options_;
  Tolerance tolerance_;
  mutable std::vector<Tensor> expected_;  // the reference's outputs, once they are known
};

}  // namespace fuseline::cli
