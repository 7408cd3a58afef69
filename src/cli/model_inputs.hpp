// A model and its inputs, as the commands that run models take them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/model_file.hpp"
#include "cli/numpy_file.hpp"
#include "cli/picture_input.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {

// As typed; the functions check them.
struct ModelOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string device = "auto";
  std::string fusion = "on";
  std::string threads;
  std::string precision = "fp32";
  std::vector<std::string> keep_fp32;
  std::vector<std::string> sizes;
  PictureOptions picture;

  // `required`: the command has no other use than with a model.
  void add_to(CLI::App& command, bool required = true);
  CompileOptions compile_options() const;
  void apply_threads() const;
};

// What was given for the inputs of a model.
struct ModelInputs {
  TensorMap tensors;                 // by graph name
  std::vector<std::string> remarks;  // of each picture: what was made of it
};

// Each word is NAME=FILE, where FILE is an array (.npy), a tensor (.pb) or a picture; FILE.npz with
// arrays by name; or, where the model has one input, FILE. Inputs that have a default may be left
// out.
ModelInputs read_inputs(const ModelFile& model, const ModelOptions& options);
// An ONNX TensorProto, as in the ONNX project's test folders.
Tensor read_tensor_file(const std::filesystem::path& path);
// The values that the model gives to inputs which `inputs` lacks.
void add_defaults(const ModelFile& model, TensorMap& inputs);
// Sizes by name, as --size gives them (NAME=N). Error for a name that no input has.
DimBindings read_sizes(const ModelFile& model, const std::vector<std::string>& words);
// Numbers for the inputs that `given` lacks: real ones from -1 to 1, whole ones from 0 to 9. Sizes
// that `sizes` lacks are 1. Equal seeds give equal numbers.
TensorMap random_inputs(const ModelFile& model, TensorMap given, const DimBindings& sizes,
                        std::uint64_t seed);

}  // namespace fuseline::cli
