// A model as the commands see it: an ONNX file, or one that `fuseline compile` wrote.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuseline/onnx.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {

class ModelFile {
 public:
  // Options that were decided when the file was compiled are an Error when they are given again.
  static ModelFile open(const std::string& path, const CompileOptions& options);

  const std::vector<OnnxValue>& inputs() const { return inputs_; }
  // Name in the model and name in the Graph.
  const std::vector<std::pair<std::string, std::string>>& outputs() const { return outputs_; }
  // Values of the inputs that may be left out, by graph name.
  const TensorMap& defaults() const { return defaults_; }
  // None for a compiled model.
  const std::optional<OnnxModel>& onnx() const { return onnx_; }
  // Error, naming the command, for a compiled model.
  const OnnxModel& need_onnx(const char* command) const;

  // The program for these inputs: those of a compiled model must have the values that it was
  // compiled for where they decide shapes.
  Program program(const TensorMap& inputs) const;

  // Compiles the model for all sizes, as far as it can be said without these inputs, and writes it.
  // Returns the program.
  Program compile_to(const std::string& path, const TensorMap& inputs) const;

 private:
  std::string path_;
  CompileOptions options_;
  std::vector<OnnxValue> inputs_;
  std::vector<std::pair<std::string, std::string>> outputs_;
  TensorMap defaults_;
  TensorMap decided_;  // compiled for these values
  std::optional<OnnxModel> onnx_;
  std::optional<Program> compiled_;

  void read_notes(const SavedNotes& notes);
  SavedNotes notes(const std::vector<std::string>& decided, const TensorMap& inputs) const;
};

}  // namespace fuseline::cli
