// Matrix products.
#include "device/cpu/onednn/call.hpp"

namespace fuseline::cpu {
namespace {

// Sizes of one in front, as many axes as the result has.
CallOperand widened(CallOperand operand, std::size_t rank) {
  while (operand.shape.size() < rank) {
    std::int64_t step = operand.shape.empty() ? 1 : operand.shape[0] * operand.strides[0];
    operand.shape.insert(operand.shape.begin(), 1);
    operand.strides.insert(operand.strides.begin(), step);
  }
  return operand;
}

}  // namespace

std::shared_ptr<const CpuCall> prepare_matmul(const CallRequest& request) {
  std::size_t rank = request.result.shape.size();
  dnnl::memory::desc source = plain_descriptor(widened(request.operands[0], rank));
  dnnl::memory::desc given = plain_descriptor(widened(request.operands[1], rank)), bias;
  dnnl::memory::desc result = plain_descriptor(request.result);
  dnnl::memory::desc weights = request.operands[1].constant ? any_order(given) : given;
  if (!request.epilogue.bias.empty()) {
    CallOperand row{request.result.dtype, {request.result.shape.back()}, {1}};
    bias = plain_descriptor(widened(row, rank));
  }
  dnnl::primitive_attr attributes = attributes_of(request.epilogue);
#if DNNL_VERSION_MAJOR >= 3
  dnnl::matmul::primitive_desc chosen(engine(), source, weights, bias, result, attributes);
#else
  dnnl::matmul::primitive_desc chosen({source, weights, bias, result}, attributes, engine());
#endif
  return make_call({dnnl::matmul(chosen), chosen.impl_info_str(), source, chosen.weights_desc(),
                    bias, result, chosen.scratchpad_desc(), rank - 1},
                   request, given);
}

}  // namespace fuseline::cpu
