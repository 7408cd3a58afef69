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
      : primitive_(std::move(primitive)), given_(given), bias_(request.epilogue.bias) {
    implementation = primitive_.implementation;
    weights_at_ = (bytes_of(primitive_.scratch) + alignment - 1) / alignment * alignment;
    scratch_bytes = weights_at_;
    if (const void* constant = request.operands[1].constant)
      weights_ = prepared_weights(constant, given, primitive_.weights);
    else if (given != primitive_.weights)
      scratch_bytes += bytes_of(primitive_.weights);
  }

  void run(std::span<void* const> buffers, int threads) const override {
    OpenMpThreads team(threads);
    std::size_t result = bias_ ? 3 : 2;
    auto* scratch = static_cast<char*>(buffers[result + 1]);
    auto at = [](const dnnl::memory::desc& descriptor, void* pointer) {
      return dnnl::memory(descriptor, engine(), pointer);
    };
    dnnl::memory weights = weights_ ? *weights_ : arranged(buffers[1], scratch + weights_at_);
    std::unordered_map<int, dnnl::memory> arguments = {
        {DNNL_ARG_SRC, at(primitive_.source, buffers[0])},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, at(primitive_.result, buffers[result])},
        {DNNL_ARG_SCRATCHPAD, at(primitive_.scratch, scratch)}};
    if (bias_) arguments.emplace(DNNL_ARG_BIAS, at(primitive_.bias, buffers[2]));
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
  bool bias_;
  std::int64_t weights_at_ = 0;
  std::shared_ptr<const dnnl::memory> weights_;
};

class EmptySum final : public CpuCall {
 public:
  explicit EmptySum(const CallRequest& request) : request_(request) {
    implementation = "a sum over nothing";
  }

  // Channels are axis 1 of an image, in blocks or not, and the last axis of a matrix product.
  void run(std::span<void* const> buffers, int) const override {
    const CallOperand& result = request_.result;
    std::int64_t count = element_count(result.shape), step = 1;
    if (request_.op != OpCode::matmul && request_.y_block == 0)
      for (std::size_t k = 2; k < result.shape.size(); ++k) step *= result.shape[k];
    auto width = static_cast<std::int64_t>(size_of(result.dtype));
    bool bias = request_.epilogue.bias;
    std::int64_t period = bias ? element_count(request_.operands[2].shape) : 1;
    if (request_.y_block > 0) return fill_blocks(buffers);
    for (std::int64_t i = 0; i < count; ++i)
      put(buffers[bias ? 3 : 2], i, bias ? buffers[2] : nullptr, i / step % period, width);
  }

 private:
  void fill_blocks(std::span<void* const> buffers) const {
    const Shape& shape = request_.result.shape;
    bool bias = request_.epilogue.bias;
    auto width = static_cast<std::int64_t>(size_of(request_.result.dtype));
    std::int64_t count = element_count(shape), places = 1;
    for (std::size_t k = 2; k + 1 < shape.size(); ++k) places *= shape[k];
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t lane = i % shape.back(), block = i / shape.back() / places % shape[1];
      put(buffers[bias ? 3 : 2], i, bias ? buffers[2] : nullptr, block * shape.back() + lane,
          width);
    }
  }

  void put(void* to, std::int64_t at, const void* bias, std::int64_t channel,
           std::int64_t width) const {
    DType dtype = request_.result.dtype;
    Number value{.d = 0};
    if (bias) value = load_number(static_cast<const char*>(bias) + channel * width, dtype);
    if (request_.epilogue.leaky_relu && value.d < 0) value.d *= request_.epilogue.slope;
    store_number(static_cast<char*>(to) + at * width, dtype, value);
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
