// Frames of the mask pipeline on a GPU, with our kernel or with one that somebody wrote.
#pragma once

#include <memory>
#include <vector>

#include "cli/diagnose_mask.hpp"
#include "foreign/check.hpp"
#include "ledger/bench.hpp"

namespace fuseline::cli {

inline constexpr const char* kernels_stage = "kernels";

// Of the command's picture.
MaskSettings frame_settings(const MaskCommand& command);

class KernelFrames {
 public:
  KernelFrames(const MaskCommand& command, const foreign::Contract& contract, int index);
  ~KernelFrames();
  KernelFrames(const KernelFrames&) = delete;
  KernelFrames& operator=(const KernelFrames&) = delete;

  void add_ours();
  void add(const foreign::Report& checked);  // that passed
  // A frame with the kernels of a side, by the order of adding: decode, upload, kernels until they
  // are done, download, encode. Behind it, the kernels alone: at least a millisecond of launches
  // back to back over rotating buffers, as `kernel_alone_ms` among what was seen.
  RunSample run(std::size_t side);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuseline::cli
