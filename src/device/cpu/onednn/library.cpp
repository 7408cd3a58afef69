// The entry point of libfuseline_onednn.
#include <algorithm>

#include "base/fail.hpp"
#include "device/cpu/onednn/call.hpp"

namespace fuseline::cpu {
namespace {

class OneDnn final : public CallLibrary {
 public:
  // bfloat16 only where the processor multiplies it: emulated it is slower than float.
  std::vector<DType> types() const override {
    std::vector<DType> types = {DType::f32};
    auto isa = dnnl::get_effective_cpu_isa();
    if (isa >= dnnl::cpu_isa::avx512_core_bf16) types.push_back(DType::bf16);
    return types;
  }

  std::string describe() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }

  std::shared_ptr<const CpuCall> prepare(const CallRequest& request, int threads) override {
    OpenMpThreads team(threads);
    for (const CallOperand& operand : request.operands)
      if (element_count(operand.shape) == 0) return prepare_empty_sum(request);
    try {
      return request.op == OpCode::matmul ? prepare_matmul(request) : prepare_convolution(request);
    } catch (const dnnl::error& error) {
      fail_device("{}: oneDNN refuses it ({}: {}); without library calls it would run, slowly",
                  name_of(request.op), static_cast<int>(error.status), error.what());
    }
  }
};

}  // namespace
}  // namespace fuseline::cpu

extern "C" __attribute__((visibility("default"))) fuseline::cpu::CallLibrary*
fuseline_open_call_library(std::uint32_t abi) {
  if (abi != fuseline::cpu::call_library_abi) return nullptr;
  static fuseline::cpu::OneDnn library;
  return &library;
}
