// Running a primitive.
#include "device/cpu/onednn/call.hpp"

#include <omp.h>

namespace fuseline::cpu {

OpenMpThreads::OpenMpThreads(int threads) : before_(omp_get_max_threads()) {
  if (threads != before_) omp_set_num_threads(threads);
}
OpenMpThreads::~OpenMpThreads() {
  if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
}

dnnl::primitive_attr attributes_of(const Epilogue& epilogue) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!epilogue.leaky_relu) return attributes;
  dnnl::post_ops after;
  auto slope = static_cast<float>(epilogue.slope);
#if DNNL_VERSION_MAJOR >= 3
  after.append_eltwise(dnnl::algorithm::eltwise_relu, slope, 0);
#else
  after.append_eltwise(1, dnnl::algorithm::eltwise_relu, slope, 0);
#endif
  attributes.set_post_ops(after);
  return attributes;
}

namespace {

constexpr std::int64_t alignment = 64;

class PrimitiveCall final : public CpuCall {
 public:
  PrimitiveCall(Primitive primitive, const CallRequest& request, const dnnl::memory::desc& given)
      : primitive_(std::move(primitive)), given_(given) {
    implementation = primitive_.implementation;
    weights_at_ = (bytes_of(primitive_.scratch) + alignment - 1) / alignment * alignment;
    scratch_bytes = weights_at_;
    const Epilogue& epilogue = request.epilogue;
    if (const void* constant = request.operands[1].constant)
      weights_ = prepared_weights(
          {constant, epilogue.scale, primitive_.feature_axis, given, primitive_.weights});
    else if (given != primitive_.weights)
      scratch_bytes += bytes_of(primitive_.weights);
    if (!epilogue.bias.empty()) {
      bias_ = dnnl::memory(primitive_.bias, engine());
      store_numbers(bias_.get_data_handle(), request.result.dtype, epilogue.bias);
    }
  }

  void run(std::span<void* const> buffers, int threads) const override {
    OpenMpThreads team(threads);
    auto* scratch = static_cast<char*>(buffers[3]);
    auto at = [](const dnnl::memory::desc& descriptor, void* pointer) {
      return dnnl::memory(descriptor, engine(), pointer);
    };
    dnnl::memory weights = weights_ ? *weights_ : arranged(buffers[1], scratch + weights_at_);
    std::unordered_map<int, dnnl::memory> arguments = {
        {DNNL_ARG_SRC, at(primitive_.source, buffers[0])},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, at(primitive_.result, buffers[2])},
        {DNNL_ARG_SCRATCHPAD, at(primitive_.scratch, scratch)}};
    if (bias_) arguments.emplace(DNNL_ARG_BIAS, bias_);
    dnnl::stream stream(engine());
    primitive_.primitive.execute(stream, arguments);
    stream.wait();
  }

 private:
  dnnl::memory arranged(void* pointer, void* room) const {
    dnnl::memory plain(given_, engine(), pointer);
    if (given_ == primitive_.weights) return plain;
    dnnl::memory wanted(primitive_.weights, engine(), room);
    reorder(plain, wanted);
    return wanted;
  }

  Primitive primitive_;
  dnnl::memory::desc given_;
  dnnl::memory bias_;
  std::int64_t weights_at_ = 0;
  std::shared_ptr<const dnnl::memory> weights_;
};

class EmptySum final : public CpuCall {
 public:
  explicit EmptySum(const CallRequest& request) : request_(request) {
    implementation = "a sum over nothing";
  }

  void run(std::span<void* const> buffers, int) const override {
    const CallOperand& result = request_.result;
    const Epilogue& epilogue = request_.epilogue;
    std::int64_t count = element_count(result.shape);
    auto width = static_cast<std::int64_t>(size_of(result.dtype));
    for (std::int64_t i = 0; i < count; ++i) {
      auto channel = static_cast<std::size_t>(channel_of(i));
      Number value{.d = channel < epilogue.bias.size() ? epilogue.bias[channel] : 0};
      if (epilogue.leaky_relu && value.d < 0) value.d *= epilogue.slope;
      store_number(static_cast<char*>(buffers[2]) + i * width, result.dtype, value);
    }
  }

 private:
  // Channels are axis 1 of an image, in blocks or not, and the last axis of a matrix product.
  std::int64_t channel_of(std::int64_t element) const {
    const Shape& shape = request_.result.shape;
    if (request_.op == OpCode::matmul) return element % shape.back();
    std::int64_t lane = 0, places = 1;
    std::size_t end = shape.size();
    if (request_.y_block > 0) {
      lane = element % shape.back();
      element /= shape.back();
      --end;
    }
    for (std::size_t k = 2; k < end; ++k) places *= shape[k];
    std::int64_t outer = element / places % shape[1];
    return request_.y_block > 0 ? outer * shape.back() + lane : outer;
  }

  CallRequest request_;
};

}  // namespace

std::shared_ptr<const CpuCall> make_call(Primitive primitive, const CallRequest& request,
                                         const dnnl::memory::desc& given) {
  return std::make_shared<PrimitiveCall>(std::move(primitive), request, given);
}

std::shared_ptr<const CpuCall> prepare_empty_sum(const CallRequest& request) {
  return std::make_shared<EmptySum>(request);
}

}  // namespace fuseline::cpu
