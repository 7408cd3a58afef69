// Compiled mask programs by kind of picture, shared by all threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "fuseline/image.hpp"
#include "fuseline/mask.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {

class MaskEngine {
 public:
  MaskEngine(const MaskSettings& settings, CompileOptions options)
      : settings_(settings), options_(std::move(options)) {}

  // Compiles or loads what a picture of this kind needs. Thread-safe.
  void prepare(const ImageInfo& picture);
  // A mask for a picture of this size; none where the settings decline it.
  Tensor make_mask(std::int64_t height, std::int64_t width) const;
  // Returns the area and fills `mask` if there is one. Thread-safe.
  std::int64_t run(const Image& picture, const Tensor& mask);
  // For pictures of this number of channels. Thread-safe.
  Program program(std::int64_t channels);

 private:
  MaskSettings settings_;
  CompileOptions options_;
  std::mutex mutex_;  // guards programs_; held while one is compiled, which the others need too
  std::map<std::int64_t, Program> programs_;
};

// Tensors under the names of mask_graph; `area` must stay where it is until the run is over.
TensorMap mask_inputs(const Tensor& pixels);
TensorMap mask_outputs(const Tensor& mask, std::int64_t& area);

}  // namespace fuseline::cli
