// Memory, lanes, control flow and threads of Loop IR, printed as CUDA C and run on the host.
#include "emit/host_support.hpp"
#include "support/thread_cases.hpp"

namespace fuseline::test {
namespace {

const std::vector<std::uint64_t> many_orders = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(HostMemory, loads_and_stores_of_every_type) {
  for (Shape shape : {Shape{32, 1}, Shape{32, 4}, Shape{1, 16}}) run_on_host(memory_cases(shape));
}

TEST(HostThreads, shuffles_barriers_atomics_and_whole_reductions_in_any_order) {
  run_on_host(thread_cases(), {}, many_orders);
}

}  // namespace
}  // namespace fuseline::test
