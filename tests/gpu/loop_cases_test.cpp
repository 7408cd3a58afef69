// Every case of Loop IR on the device: each intrinsic and cast of each type, memory operations,
// shuffles, ballots, warp sums and atomics; this runs all of the device prelude.
#include "device/cuda/nvrtc.hpp"
#include "emit/cuda_c/prelude.hpp"
#include "emit/cuda_c/print.hpp"
#include "gpu/driver.hpp"
#include "gpu/support.hpp"
#include "support/arith_cases.hpp"
#include "support/mask_case.hpp"
#include "support/thread_cases.hpp"

namespace fuseline::test {
namespace {

// One module of all cases behind one prelude: a compilation for each would take minutes.
class Module {
 public:
  explicit Module(const std::vector<LoopCase>& cases) {
    std::string bodies;
    for (const LoopCase& c : cases) bodies += print_cuda_body(c.kernel);
    int sm = open_device("cuda").target().sm;
    auto compiled = cuda::compile_cuda(cuda_c::device_prelude(bodies) + bodies, "cases",
                                       fmt::format("sm_{}", sm), nvrtc_options);
    EXPECT_EQ(compiled.log, "");
    api::Context context = nullptr;
    check(driver().primary_retain(&context, 0));
    check(driver().context_push(context));
    check(driver().module_load(&module_, compiled.code.c_str()));
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    api::Context popped = nullptr;
    driver().module_unload(module_);
    driver().context_pop(&popped);
  }

  void run(const LoopCase& c) const {
    Device& device = open_device("cuda");
    api::Function function = nullptr;
    check(driver().module_function(&function, module_, c.kernel.name.c_str()));
    std::vector<OnDevice> memory;
    for (const Bytes& before : c.before)
      if (before.empty())
        memory.emplace_back(device, 1);
      else
        memory.emplace_back(device, before.data(), before.size());
    std::vector<std::uint64_t> values;
    for (const OnDevice& buffer : memory)
      values.push_back(reinterpret_cast<std::uint64_t>(buffer.data()));
    values.insert(values.end(), c.params.begin(), c.params.end());
    std::vector<void*> arguments;
    for (std::uint64_t& value : values) arguments.push_back(&value);
    if (c.blocks > 0)
      check(driver().launch(function, static_cast<unsigned>(c.blocks), 1, 1,
                            static_cast<unsigned>(c.kernel.threads), 1, 1, 0, nullptr,
                            arguments.data(), nullptr));
    check(driver().stream_wait(nullptr));
    std::vector<Bytes> got;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      got.emplace_back(c.before[i].size());
      if (!got[i].empty()) memory[i].download(got[i].data());
    }
    EXPECT_TRUE(matches(c, got)) << print_cuda_body(c.kernel);
  }

 private:
  api::Module module_ = nullptr;
};

class LoopCases : public GpuTest {
 protected:
  static void run_all(std::vector<LoopCase> cases) {
    for (std::size_t i = 0; i < cases.size(); ++i)  // names may repeat between shapes
      cases[i].kernel.name += fmt::format("_{}", i);
    Module module(cases);
    for (const LoopCase& c : cases) module.run(c);
  }
};

TEST_F(LoopCases, EveryIntrinsicOfEveryType) {
  for (Shape shape : {Shape{32, 1}, Shape{32, 4}}) run_all(intrinsic_cases(shape));
}

TEST_F(LoopCases, EveryCast) {
  for (Shape shape : {Shape{32, 1}, Shape{32, 4}}) run_all(cast_cases(shape));
}

TEST_F(LoopCases, ValuesAndMemory) {
  for (Shape shape : {Shape{32, 1}, Shape{32, 4}, Shape{64, 16}}) {
    run_all(value_cases(shape));
    run_all(memory_cases(shape));
  }
}

TEST_F(LoopCases, ThreadsOfABlock) {
  run_all(thread_cases());
  run_all({mask_case(5000, 256), mask_case(4096, 256)});
}

}  // namespace
}  // namespace fuseline::test
