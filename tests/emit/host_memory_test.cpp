// Memory, lanes, control flow and threads of Loop IR, printed as CUDA C and run on the host.
#include "emit/host_support.hpp"
#include "support/arith_cases.hpp"
#include "support/mask_case.hpp"

namespace fuseline::test {
namespace {

const std::vector<std::uint64_t> many_orders = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(HostMemory, loads_and_stores_of_every_type) {
  for (Shape shape : {Shape{32, 1}, Shape{32, 4}, Shape{1, 16}}) run_on_host(memory_cases(shape));
}

TEST(HostThreads, shuffles_barriers_atomics_and_whole_reductions_in_any_order) {
  run_on_host(thread_cases(), {}, many_orders);
}

TEST(HostThreads, mask_and_count_of_packed_pixels_at_any_size) {
  std::vector<LoopCase> cases;
  for (std::size_t pixels : {1, 15, 16, 17, 1023, 1024, 4096, 10007}) {
    cases.push_back(mask_case(pixels, 64));
    cases.push_back(mask_case(pixels, 256));
  }
  run_on_host(cases, {}, {0, 1, 2});
}

// Wrapping goes through unsigned types, shifts stay in range: nothing is left to the compiler.
TEST(HostUndefinedBehavior, printed_text_has_none) {
  host::CompileOptions checked{.undefined_behavior = true};
  run_on_host(intrinsic_cases({32, 1}), checked, {0});
  run_on_host(cast_cases({32, 1}), checked, {0});
  run_on_host(memory_cases({32, 4}), checked, {0});
  run_on_host(thread_cases(), checked, {0});
}

}  // namespace
}  // namespace fuseline::test
