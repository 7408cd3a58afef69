// Runs the mask program over pictures: decoding, kernels and encoding of different pictures at the
// same time, results in the order of the pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/mask_engine.hpp"
#include "cli/output_names.hpp"
#include "fuseline/error.hpp"

namespace fuseline::cli {

struct MaskResult {
  MaskTask task;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t area = 0;
  std::string error;  // not empty: it failed, and why
  ErrorKind kind = ErrorKind::input;

  bool failed() const { return !error.empty(); }
  double fraction() const;
};

struct BatchOptions {
  ReadOptions read;
  bool one_bit = false;
};

// Called for each result in the order of the tasks, by one thread at a time.
using OnResult = std::function<void(const MaskResult&)>;

// A picture that fails is a result; a missing device and our own faults are thrown. Stops between
// pictures when the user interrupts; the results so far have been reported by then.
void run_masks(MaskEngine& engine, const std::vector<MaskTask>& tasks, const BatchOptions& options,
               const OnResult& on_result);

// Writes the mask under its name, making its folder where there is none.
void write_mask(const std::filesystem::path& path, const Tensor& mask, bool one_bit);

}  // namespace fuseline::cli
