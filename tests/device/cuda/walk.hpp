// The life of a Program, step by step: what failures are injected into.
#pragma once

#include <cstring>
#include <optional>

#include "device/cuda/support.hpp"
#include "fuseline/error.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"
#include "support/mask_graph.hpp"
#include "support/random_frame.hpp"

namespace fuseline::test {

// A frame with its outputs in host memory, and the run of it.
class MaskRun {
 public:
  MaskRun(std::int64_t height, std::int64_t width, unsigned seed)
      : frame_(height, width, seed),
        mask_(static_cast<std::size_t>(height * width)),
        inputs_{{"frame", frame_.tensor()}},
        outputs_{{"mask", Tensor::of(mask_.data(), {height, width})},
                 {"area", Tensor::of(&area_, {})}} {}
  MaskRun(const MaskRun&) = delete;
  MaskRun& operator=(const MaskRun&) = delete;

  // Throws what run throws. Where it returns, the results are right.
  void run(Lane& lane, bool results = true) {
    std::memset(mask_.data(), 77, mask_.size());
    area_ = -1;
    lane.run(inputs_, outputs_);
    if (results) expect_results();
  }
  void expect_results() const {
    EXPECT_TRUE(mask_ == frame_.mask(127)) << "the mask is wrong";
    EXPECT_EQ(area_, frame_.area(127));
  }
  void change() { frame_.pixels[frame_.pixels.size() / 2] += 100; }
  const TensorMap& inputs() const { return inputs_; }
  const TensorMap& outputs() const { return outputs_; }
  std::int64_t area() const { return area_; }

 private:
  RandomFrame frame_;
  std::vector<std::uint8_t> mask_;
  std::int64_t area_ = -1;
  TensorMap inputs_, outputs_;
};

class Walk {
 public:
  static constexpr const char* steps[] = {"compile",       "cold run",      "recording",
                                          "replay",        "other frame",   "replay of the other",
                                          "a larger size", "its recording", "the first size again"};

  explicit Walk(Device& device, CompileOptions options = {})
      : device_(device), options_(std::move(options)) {}

  // May be repeated after a failure.
  void step(std::size_t position) {
    if (!program_) program_ = compile_on(device_, mask_graph(), options_);
    if (!lane_) lane_ = program_->make_lane();
    if (position == 0) return;
    MaskRun& run = position < 4 || position == 8 ? first_ : position < 6 ? other_ : larger_;
    run.change();
    run.run(*lane_);
  }

 private:
  Device& device_;
  CompileOptions options_;
  MaskRun first_{5, 21, 1}, other_{5, 21, 2}, larger_{24, 96, 3};
  std::optional<Program> program_;
  std::optional<Lane> lane_;
};

}  // namespace fuseline::test
