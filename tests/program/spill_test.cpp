// Regions whose kernels spill registers are cut; the results stay.
#include <gtest/gtest.h>

#include "fuseline/ops.hpp"
#include "fuzz/host_device.hpp"
#include "graph/evaluate.hpp"
#include "program/program_impl.hpp"

namespace fuseline {
namespace {

int count_insts(const loop::Block& block) {
  int count = static_cast<int>(block.insts.size());
  for (const loop::Inst& inst : block.insts)
    for (const loop::Block& inner : inst.blocks) count += count_insts(inner);
  return count;
}

// A device whose compiler spills above so many instructions, eight bytes for each of them.
class SmallRegisterFile final : public Device {
 public:
  explicit SmallRegisterFile(int fitting) : fitting_(fitting) {}
  DeviceId id() const override { return host_.id(); }
  const Target& target() const override { return host_.target(); }
  std::string identity() const override { return host_.identity(); }
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override {
    auto compiled = host_.compile(kernel);
    int over = std::max(0, count_insts(kernel.body) - fitting_);
    const_cast<CompiledKernel&>(*compiled).record.spill_bytes = 8 * over;
    return compiled;
  }
  std::string source_of(const loop::Kernel& kernel) override { return host_.source_of(kernel); }
  std::unique_ptr<Queue> make_queue() override { return host_.make_queue(); }
  std::shared_ptr<void> allocate(std::size_t bytes) override { return host_.allocate(bytes); }
  std::unique_ptr<Arena> make_arena() override { return host_.make_arena(); }

 private:
  fuzz::HostCudaDevice host_;
  int fitting_;
};

// Sixty dependent operations in one Region.
Graph long_chain() {
  Graph g;
  Value x = g.input("x", DType::i32, {Dim::symbol("N")});
  for (int i = 0; i < 30; ++i) x = (x + i) * (i % 3 == 0 ? 3 : 5);
  g.output("y", x);
  return g;
}

TEST(Spill, a_region_that_fits_stays_whole) {
  SmallRegisterFile device(100000);
  Program program = compile_on(device, long_chain(), {});
  EXPECT_EQ(program.report().size(), 1u);
}

TEST(Spill, a_region_that_spills_is_cut_and_says_why) {
  if (auto why = host::compiler_missing(); !why.empty()) GTEST_SKIP() << why;
  SmallRegisterFile device(100);
  Graph graph = long_chain();
  Program program = compile_on(device, graph, {});
  auto report = program.report();
  ASSERT_GT(report.size(), 1u);
  EXPECT_NE(report[0].reasons[0].find("operations"), std::string::npos) << report[0].reasons[0];
  std::vector<std::int32_t> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i * 2654435761u);
  TensorMap inputs = {{"x", Tensor::of(x.data(), {1000})}};
  auto expected = evaluate(graph, inputs), actual = program.run(inputs);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(actual[0].as<std::int32_t>()[i], expected[0].as<std::int32_t>()[i]) << i;
}

TEST(Spill, cutting_that_does_not_help_is_not_done) {
  SmallRegisterFile device(0);  // everything spills
  Program program = compile_on(device, long_chain(), {});
  EXPECT_EQ(program.report().size(), 1u);
}

}  // namespace
}  // namespace fuseline
