// Runs the segments of a Program one after the other.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "fuseline/program.hpp"
#include "program/cut_segments.hpp"
#include "program/device.hpp"

namespace fuseline {

// A segment and its Program.
struct CompiledSegment {
  Program program;
  std::vector<std::string> crossing, sizes;
  std::string reason;
};

// One Lane for each segment, and the memory of what crosses from one to another. One thread at a
// time.
class SegmentLanes {
 public:
  SegmentLanes(const std::vector<CompiledSegment>& segments, Device& device);
  // Outputs that are not in `given` are allocated in host memory. In the order of `names`.
  std::vector<Tensor> run(const TensorMap& inputs, const TensorMap& given,
                          const std::vector<NamedValue>& names);
  void set_observer(Observer* observer);

 private:
  struct Memory {
    std::shared_ptr<void> memory;
    std::size_t bytes = 0;
  };
  Tensor crossing(const std::string& name, DType dtype, const Shape& shape);
  TensorMap outputs_of(const CompiledSegment& segment, const TensorMap& inputs,
                       const TensorMap& given);

  const std::vector<CompiledSegment>& segments_;
  Device& device_;
  std::vector<Lane> lanes_;
  std::map<std::string, Memory> memory_;  // by crossing name; kept for the next run
};

}  // namespace fuseline
