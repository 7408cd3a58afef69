// A model and its inputs, as the commands that run models take them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/numpy_file.hpp"
#include "fuseline/onnx.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {

// As typed; the functions check them.
struct ModelOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string device = "auto";
  std::string fusion = "on";
  std::string threads;

  void add_to(CLI::App& command);
  CompileOptions compile_options() const;
  void apply_threads() const;
};

// NAME=FILE.npy, FILE.npz (arrays by name) or, where the model has one input, FILE.npy. Inputs that
// have a default may be left out. By graph name.
TensorMap read_inputs(const OnnxModel& model, const std::vector<std::string>& words);
// Numbers for the inputs that `given` lacks: real ones from -1 to 1, whole ones from 0 to 9, sizes
// that are not known are 1. Equal seeds give equal numbers.
TensorMap random_inputs(const OnnxModel& model, TensorMap given, std::uint64_t seed);

}  // namespace fuseline::cli
