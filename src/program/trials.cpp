// Parameters and buffers of trial launches.
#include "program/trials.hpp"

#include <algorithm>

#include "graph/check_sizes.hpp"

namespace fuseline {
namespace {

std::uint64_t bits_of(Number value, DType dtype) {
  std::uint64_t bits = 0;
  store_number(&bits, dtype, value);  // little endian: zero-extended
  return bits;
}

class TrialBuffers {
 public:
  TrialBuffers(const Graph& graph, const Region& region, const DimBindings& sizes,
               const TensorMap& inputs, std::int64_t blocks)
      : graph_(graph), region_(region), sizes_(sizes), inputs_(inputs), blocks_(blocks) {}

  TrialBuffer operator()(const BufferArgument& argument) const {
    using Kind = BufferArgument::Kind;
    auto index = static_cast<std::size_t>(argument.index);
    auto width = static_cast<std::int64_t>(size_of(argument.dtype));
    switch (argument.kind) {
      case Kind::source:
        return source(region_.sources[index].value);
      case Kind::point:
        return dense(region_.points[index].value);
      case Kind::result:
        return dense(region_.results[index].value);
      case Kind::partial:
      case Kind::partial_index:
        return {blocks_ * width};
      case Kind::ticket:
        break;
    }
    return {width};
  }

 private:
  TrialBuffer dense(ValueId value) const {
    const ValueType& type = graph_.type(value);
    return {element_count(shape_of(type.dims, sizes_)) *
            static_cast<std::int64_t>(size_of(type.dtype))};
  }
  TrialBuffer source(ValueId value) const {
    const Node& node = graph_.node_of(value);
    if (node.op != OpCode::input) return dense(value);
    const Tensor& tensor = tensor_of(inputs_, node.attributes.text("name"));
    Reach reach = tensor.size() > 0 ? reach_of(tensor) : Reach{};
    return {reach.high - reach.low, -reach.low};
  }

  const Graph& graph_;
  const Region& region_;
  const DimBindings& sizes_;
  const TensorMap& inputs_;
  std::int64_t blocks_;
};

}  // namespace

std::vector<std::uint64_t> params_of(const Kernel& kernel, const Region& region,
                                     const DimBindings& sizes) {
  std::vector<ScalarId> uniform;
  for (const ParamArgument& argument : kernel.lowered.params)
    if (auto* scalar = std::get_if<ScalarId>(&argument.value)) uniform.push_back(*scalar);
  ScalarLeaves leaves;
  leaves.dims = &sizes;
  leaves.param = [&](int i) { return region.params[static_cast<std::size_t>(i)].value; };
  ScalarInterpreter interpreter(region.dag, uniform, true);
  auto values = interpreter.run(leaves);
  std::size_t next = 0;
  std::vector<std::uint64_t> params;
  for (const ParamArgument& argument : kernel.lowered.params) {
    Number value{.bits = 0};
    if (auto* dim = std::get_if<Dim>(&argument.value))
      value.i = dim->evaluate(sizes);
    else
      value = values[next++];
    params.push_back(bits_of(value, argument.dtype));
  }
  return params;
}

std::vector<TrialBuffer> trial_buffers(const Program::Impl& program, const Kernel& kernel,
                                       const Region& region, const DimBindings& sizes,
                                       const TensorMap& inputs,
                                       std::span<const LaunchShape> shapes) {
  std::int64_t most_blocks = 0;
  for (LaunchShape shape : shapes) {
    DimBindings own = sizes;
    most_blocks = std::max(most_blocks, launch_blocks(kernel.plan, shape, own));
  }
  TrialBuffers buffer(program.graph, region, sizes, inputs, most_blocks);
  std::vector<TrialBuffer> buffers;
  for (const BufferArgument& argument : kernel.lowered.buffers) buffers.push_back(buffer(argument));
  return buffers;
}

std::vector<ShapeTrial> shape_trials(const Kernel& kernel, const Region& region,
                                     const DimBindings& sizes,
                                     std::span<const LaunchShape> shapes) {
  std::vector<ShapeTrial> trials;
  for (LaunchShape shape : shapes) {
    DimBindings own = sizes;
    std::int64_t blocks = launch_blocks(kernel.plan, shape, own);
    trials.push_back({shape, blocks, params_of(kernel, region, own), kernel.compiled.get()});
  }
  return trials;
}

}  // namespace fuseline
