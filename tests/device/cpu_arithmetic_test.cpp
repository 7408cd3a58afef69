// Every scalar operation of Loop IR on the CPU, for every type and several lane counts.
#include "device/cpu_support.hpp"
#include "support/arith_cases.hpp"

namespace fuseline::test {
namespace {

class CpuArithmetic : public ::testing::TestWithParam<int> {
 protected:
  Shape shape() const { return {1, GetParam()}; }
};

TEST_P(CpuArithmetic, intrinsics_of_every_type) { run_on_cpu(intrinsic_cases(shape())); }

TEST_P(CpuArithmetic, casts_between_all_types) { run_on_cpu(cast_cases(shape())); }

TEST_P(CpuArithmetic, constants_select_bitcast_and_rounding) { run_on_cpu(value_cases(shape())); }

INSTANTIATE_TEST_SUITE_P(lanes, CpuArithmetic, ::testing::Values(1, 8, 16, 32),
                         [](const auto& lanes) { return std::to_string(lanes.param); });

}  // namespace
}  // namespace fuseline::test
