// Convolutions and transposed ones.
#include "device/cpu/onednn/call.hpp"

namespace fuseline::cpu {
namespace {

using dnnl::memory;

// oneDNN counts the gaps between the kernel's elements, and wants the padding behind, which
// follows from the sizes.
struct Window {
  memory::dims strides, dilations, before, after;

  Window(const CallRequest& request, const memory::dims& kernel, std::size_t x_first,
         std::size_t y_first)
      : strides(request.strides), before(request.before) {
    const Shape *from = &request.operands[0].shape, *to = &request.result.shape;
    if (request.op == OpCode::conv_transpose) std::swap(from, to), std::swap(x_first, y_first);
    for (std::size_t k = 0; k < kernel.size(); ++k) {
      dilations.push_back(request.dilations[k] - 1);
      std::int64_t reach = (kernel[k] - 1) * request.dilations[k] + 1;
      std::int64_t last = ((*to)[y_first + k] - 1) * strides[k];
      after.push_back(last + reach - (*from)[x_first + k] - before[k]);
    }
  }
};

struct Shapes {
  memory::desc source, weights, bias, result;
};

// The descriptor types of the two have the same constructors.
template <class Forward>
Primitive build(dnnl::algorithm algorithm, const CallRequest& request, const Shapes& shapes,
                const Window& w) {
  dnnl::primitive_attr attributes = attributes_of(request.epilogue);
  auto inference = dnnl::prop_kind::forward_inference;
  // Without a bias its descriptor stays empty.
#if DNNL_VERSION_MAJOR >= 3
  typename Forward::primitive_desc chosen(engine(), inference, algorithm, shapes.source,
                                          shapes.weights, shapes.bias, shapes.result, w.strides,
                                          w.dilations, w.before, w.after, attributes);
#else
  typename Forward::desc wanted(inference, algorithm, shapes.source, shapes.weights, shapes.bias,
                                shapes.result, w.strides, w.dilations, w.before, w.after);
  typename Forward::primitive_desc chosen(wanted, attributes, engine());
#endif
  return {Forward(chosen),
          chosen.impl_info_str(),
          shapes.source,
          chosen.weights_desc(),
          shapes.bias,
          shapes.result,
          chosen.scratchpad_desc(),
          request.groups > 1 ? 1u : 0u};
}

}  // namespace

std::shared_ptr<const CpuCall> prepare_convolution(const CallRequest& request) {
  bool transposed = request.op == OpCode::conv_transpose;
  const Shape& weights = request.operands[1].shape;
  std::int64_t x_channels = transposed ? weights[0] : weights[1] * request.groups;
  std::int64_t y_channels = transposed ? weights[1] * request.groups : weights[0];
  memory::desc given = weights_descriptor(request.operands[1], request.groups, transposed);
  // A block of eight that holds all eight channels is both; both sides are described alike.
  bool tagged = has_block_tag(request.x_block) && has_block_tag(request.y_block);
  Shapes shapes{image_descriptor(request.operands[0], request.x_block, x_channels, tagged),
                any_order(given),
                {},
                image_descriptor(request.result, request.y_block, y_channels, tagged)};
  if (!request.epilogue.bias.empty())
    shapes.bias = {{y_channels}, data_type(request.result.dtype), memory::format_tag::x};
  Window window(request, {weights.begin() + 2, weights.end()}, 2, 2);
  Primitive primitive = transposed
                            ? build<dnnl::deconvolution_forward>(
                                  dnnl::algorithm::deconvolution_direct, request, shapes, window)
                            : build<dnnl::convolution_forward>(dnnl::algorithm::convolution_direct,
                                                               request, shapes, window);
  return make_call(std::move(primitive), request, given);
}

}  // namespace fuseline::cpu
