// Every scalar operation of Loop IR, printed as CUDA C and run on the host, against plain C++.
#include "emit/host_support.hpp"
#include "support/arith_cases.hpp"

namespace fuseline::test {
namespace {

constexpr Shape shapes[] = {{32, 1}, {32, 4}, {1, 16}};

TEST(HostArithmetic, intrinsics_of_every_type_and_lane_count) {
  for (Shape shape : shapes) run_on_host(intrinsic_cases(shape));
}

TEST(HostArithmetic, casts_between_all_types) {
  for (Shape shape : shapes) run_on_host(cast_cases(shape));
}

TEST(HostArithmetic, constants_select_bitcast_and_rounding) {
  for (Shape shape : shapes) run_on_host(value_cases(shape));
}

}  // namespace
}  // namespace fuseline::test
