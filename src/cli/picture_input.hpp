// Pictures as inputs of models: colors, size, layout and range made to fit.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "fuseline/onnx.hpp"

namespace fuseline::cli {

// As typed; prepare_picture checks them.
struct PictureOptions {
  std::string layout = "auto";
  std::string scale, mean, std;  // empty: the default, which depends on the input's type
  std::string fit = "stretch";
  bool bgr = false;

  void add_to(CLI::App& command);
};

struct PreparedPicture {
  Tensor tensor;
  std::string how;  // one line: what was done
};

// Whether the file begins as a picture does, of a kind that is read or not.
bool is_picture(const std::filesystem::path& path);

// The picture as the model's input wants it: u8 [H,W,3], or [1,3,H,W], [1,H,W,3], [3,H,W] of bytes
// or floats, one channel for gray. Sizes that the model fixes are made by resizing, others are the
// picture's. Everything behind decoding is a Graph that is compiled for the CPU.
PreparedPicture prepare_picture(const OnnxValue& input, const std::filesystem::path& path,
                                const PictureOptions& options);

}  // namespace fuseline::cli
