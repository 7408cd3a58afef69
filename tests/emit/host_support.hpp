// Runs cases of Loop IR on the host simulator: all of a list are compiled together.
#pragma once

#include "emit/cuda_c/host/host.hpp"
#include "emit/cuda_c/print.hpp"
#include "support/loop_case.hpp"

namespace fuseline::test {

// A buffer as the device gives it: aligned to 256 bytes.
class AlignedCopy {
 public:
  explicit AlignedCopy(const Bytes& bytes)
      : size_(bytes.size()),
        memory_(
            static_cast<std::uint8_t*>(std::aligned_alloc(256, (bytes.size() + 511) / 256 * 256)),
            &std::free) {
    if (size_ > 0) std::memcpy(memory_.get(), bytes.data(), size_);
  }
  std::uint8_t* data() const { return memory_.get(); }
  Bytes bytes() const { return Bytes(data(), data() + size_); }

 private:
  std::size_t size_;
  std::unique_ptr<std::uint8_t, void (*)(void*)> memory_;
};

inline void run_case(const host::Kernels& kernels, std::size_t index, const LoopCase& c,
                     std::uint64_t seed) {
  std::vector<AlignedCopy> memory;
  std::vector<host::Span> spans;
  for (const loop::Buffer& b : c.kernel.buffers) {
    if (b.space == loop::Space::shared) continue;
    const Bytes& before = c.before[memory.size()];
    memory.emplace_back(before);
    spans.push_back(
        {memory.back().data(), static_cast<std::int64_t>(before.size() / size_of(b.dtype))});
  }
  std::string fault = kernels.run(index, spans, c.params, c.blocks, seed);
  ASSERT_EQ(fault, "") << print_cuda_body(c.kernel);
  std::vector<Bytes> got;
  for (const AlignedCopy& m : memory) got.push_back(m.bytes());
  EXPECT_TRUE(matches(c, got)) << "seed " << seed << "\n" << print_cuda_body(c.kernel);
}

inline void run_on_host(const std::vector<LoopCase>& cases, host::CompileOptions options = {},
                        std::vector<std::uint64_t> seeds = {0, 1}) {
  if (std::string why = host::compiler_missing(); !why.empty()) GTEST_SKIP() << why;
  std::vector<host::Source> sources;
  for (const LoopCase& c : cases) {
    loop::verify(c.kernel);
    sources.push_back(host::source_of(c.kernel));
  }
  host::Kernels kernels(std::move(sources), options);
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::uint64_t seed : seeds) {
      run_case(kernels, i, cases[i], seed);
      if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace fuseline::test
