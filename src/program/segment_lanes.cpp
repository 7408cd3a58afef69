// Segment after segment; sizes are read in between.
#include "program/segment_lanes.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace fuseline {
namespace {

const Tensor* find(const TensorMap& tensors, const std::string& name) {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return &tensor;
  return nullptr;
}

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_size(const std::string& name, const Tensor& tensor) {
  std::int64_t size = *tensor.as<std::int64_t>();
  if (size < 0) fail("size late({}) is {}", name.substr(name.find(':') + 1), size);
}

}  // namespace

SegmentLanes::SegmentLanes(const std::vector<CompiledSegment>& segments, Device& device)
    : segments_(segments), device_(device) {
  for (const CompiledSegment& segment : segments) lanes_.push_back(segment.program.make_lane());
}

void SegmentLanes::set_observer(Observer* observer) {
  for (Lane& lane : lanes_) lane.set_observer(observer);
}

Tensor SegmentLanes::crossing(const std::string& name, DType dtype, const Shape& shape) {
  Memory& own = memory_[name];
  auto bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  if (!own.memory || own.bytes < bytes) {
    own.memory = device_.allocate(std::max<std::size_t>(bytes, 1));
    own.bytes = bytes;
  }
  return Tensor(own.memory.get(), dtype, shape, device_.id());
}

TensorMap SegmentLanes::outputs_of(const CompiledSegment& segment, const TensorMap& inputs,
                                   const TensorMap& given) {
  const Graph& graph = segment.program.graph();
  std::vector<Shape> shapes = segment.program.output_shapes(inputs);
  TensorMap outputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [name, value] = graph.outputs()[i];
    DType dtype = graph.type(value).dtype;
    const Tensor* tensor = find(given, name);
    if (tensor)
      outputs.emplace_back(name, *tensor);
    else if (is_one_of(segment.crossing, name))
      outputs.emplace_back(name, crossing(name, dtype, shapes[i]));
    else
      outputs.emplace_back(name, Tensor::allocate(dtype, shapes[i]));
  }
  return outputs;
}

std::vector<Tensor> SegmentLanes::run(const TensorMap& inputs, const TensorMap& given,
                                      const std::vector<NamedValue>& names) {
  TensorMap known = inputs;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const CompiledSegment& segment = segments_[i];
    TensorMap own;
    for (const NamedValue& input : segment.program.graph().inputs()) {
      const Tensor* tensor = find(known, input.name);
      if (!tensor) fail("input {} is missing", input.name);
      own.emplace_back(input.name, *tensor);
    }
    TensorMap outputs = outputs_of(segment, own, given);
    lanes_[i].run(own, outputs);
    for (auto& [name, tensor] : outputs) {
      if (is_one_of(segment.sizes, name)) check_size(name, tensor);
      known.emplace_back(name, tensor);
    }
  }
  std::vector<Tensor> results;
  for (const NamedValue& output : names) results.push_back(*find(known, output.name));
  return results;
}

}  // namespace fuseline
