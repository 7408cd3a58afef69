// Programs and Lanes of a variant, and what its launches move.
#include "cli/diagnose_variant.hpp"

#include <algorithm>

namespace fuseline::cli {
namespace {

Choices choices_for(TakenShapes& shapes, bool notes) {
  if (notes)
    return {
        .on_kernel = [&shapes](const auto& kernel, const Region&, const DimBindings&,
                               LaunchShape shape) { shapes[kernel->lowered.kernel.name] = shape; }};
  return {.shape = [&shapes](const std::string& kernel, std::span<const LaunchShape> all) {
    auto found = std::find(all.begin(), all.end(), shapes[kernel]);
    return found == all.end() ? std::size_t{0} : static_cast<std::size_t>(found - all.begin());
  }};
}

std::int64_t bytes_of(const TensorMap& tensors, const std::string& name) {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return tensor.bytes();
  return 0;
}

}  // namespace

Variant::Variant(Device& device, const Subject& subject, bool fusion, TakenShapes& shapes,
                 bool notes) {
  CompileOptions options = subject.options();
  options.fusion = fusion;
  for (const Graph& graph : subject.graphs()) {
    verify(graph);
    programs_.push_back(
        std::make_shared<Program::Impl>(graph, options, device, choices_for(shapes, notes)));
  }
  lanes_.resize(static_cast<std::size_t>(subject.workers()));
  for (auto& lanes : lanes_) lanes.resize(programs_.size());
  clocks_.resize(lanes_.size());
}

Lane::Impl& Variant::lane(const FrameTensors& frame, int worker) {
  auto& lane = lanes_[static_cast<std::size_t>(worker)][frame.graph];
  if (!lane) lane = std::make_unique<Lane::Impl>(programs_[frame.graph]);
  lane->observer = clocks_[static_cast<std::size_t>(worker)];
  return *lane;
}

void Variant::run(const FrameTensors& frame, int worker, bool null) {
  lane(frame, worker).run(frame.inputs, null ? frame.nowhere : frame.outputs);
}

void Variant::observe(KernelClock* clock, int worker) {
  clocks_[static_cast<std::size_t>(worker)] = clock;
}

double Variant::burst(const FrameTensors& frame, bool null) {
  constexpr int runs = 5;
  std::vector<double> times;
  run(frame, 0, null);
  for (int i = 0; i < runs; ++i) times.push_back(timed([&] { run(frame, 0, null); }));
  return median(times);
}

Traffic Variant::traffic(const FrameTensors& frame) {
  Program::Impl& program = *programs_[frame.graph];
  auto instance = program.instance(frame.inputs);
  Traffic traffic;
  for (const Step& step : instance->steps) {
    ++traffic.launches;
    for (const Place& place : step.places) {
      std::int64_t bytes = place.bytes;
      if (place.kind == Place::Kind::input)
        bytes = bytes_of(frame.inputs, program.graph.inputs()[place.index].name);
      if (place.kind == Place::Kind::output)
        bytes = bytes_of(frame.outputs, program.graph.outputs()[place.index].name);
      traffic.bytes += static_cast<double>(bytes);
    }
  }
  return traffic;
}

}  // namespace fuseline::cli
