// Logical sizes and strides; blocks have names of their own in oneDNN.
#include "device/cpu/onednn/descriptors.hpp"

#include "base/fail.hpp"

namespace fuseline::cpu {

using dnnl::memory;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::data_type data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return memory::data_type::f32;
    case DType::bf16:
      return memory::data_type::bf16;
    default:
      fail_internal("no library call has this element type");
  }
}

memory::desc plain_descriptor(const CallOperand& operand) {
  return {operand.shape, data_type(operand.dtype), operand.strides};
}

namespace {

memory::format_tag block_tag(std::int64_t block, std::size_t spatial) {
  using tag = memory::format_tag;
  constexpr tag eights[] = {tag::nCw8c, tag::nChw8c, tag::nCdhw8c};
  constexpr tag sixteens[] = {tag::nCw16c, tag::nChw16c, tag::nCdhw16c};
  require((block == 8 || block == 16) && spatial >= 1 && spatial <= 3, "a known block");
  return block == 8 ? eights[spatial - 1] : sixteens[spatial - 1];
}

}  // namespace

bool has_block_tag(std::int64_t block) { return block == 0 || block == 8 || block == 16; }

memory::desc image_descriptor(const CallOperand& operand, std::int64_t block, std::int64_t channels,
                              bool tagged) {
  if (block == 0) return plain_descriptor(operand);
  const Shape &shape = operand.shape, &strides = operand.strides;
  memory::dims sizes = {shape[0], channels};
  sizes.insert(sizes.end(), shape.begin() + 2, shape.end() - 1);
  if (tagged) return {sizes, data_type(operand.dtype), block_tag(block, sizes.size() - 2)};
  memory::dims steps = {strides[0], strides.back()};
  steps.insert(steps.end(), strides.begin() + 2, strides.end() - 1);
  return {sizes, data_type(operand.dtype), steps};
}

memory::desc weights_descriptor(const CallOperand& weights, std::int64_t groups, bool transposed) {
  memory::dims sizes(weights.shape), steps(weights.strides);
  sizes[0] /= groups;
  if (transposed) {
    std::swap(sizes[0], sizes[1]);
    std::swap(steps[0], steps[1]);
  }
  if (groups > 1) {
    sizes.insert(sizes.begin(), groups);
    steps.insert(steps.begin(), weights.shape[0] / groups * weights.strides[0]);
  }
  return {sizes, data_type(weights.dtype), steps};
}

#if DNNL_VERSION_MAJOR >= 3
memory::desc any_order(const memory::desc& descriptor) {
  return {descriptor.get_dims(), descriptor.get_data_type(), memory::format_tag::any};
}
#else
memory::desc any_order(const memory::desc& descriptor) {
  return {descriptor.dims(), descriptor.data_type(), memory::format_tag::any};
}
#endif

std::int64_t bytes_of(const memory::desc& descriptor) {
  return static_cast<std::int64_t>(descriptor.get_size());
}

}  // namespace fuseline::cpu
