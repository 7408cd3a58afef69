// Sorting: order, stability, NaN, axes, sizes around runs and merges.
#include "kernels/support.hpp"

namespace fuseline {
namespace {

using namespace test;

KernelCase sort_case(const Tensor& x, int axis, bool descending) {
  KernelCase c;
  c.graph.output("out", sort_indices(c.input(x), axis, descending));
  return c;
}

TEST(Sort, every_type_and_direction) {
  std::vector<KernelCase> cases;
  for (DType dtype :
       {DType::bool_, DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32,
        DType::u64, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64})
    for (bool descending : {false, true})
      cases.push_back(sort_case(random_tensor(dtype, {2, 83}, 1), 1, descending));
  run_everywhere(cases);
}

TEST(Sort, sizes_around_runs_and_merges) {
  std::vector<KernelCase> cases;
  for (std::int64_t n :
       {0, 1, 2, 3, 7, 13, 15, 16, 17, 31, 32, 33, 61, 64, 65, 127, 509, 1024, 1031, 8209})
    cases.push_back(sort_case(random_tensor(DType::f32, {n}, 2, 1000), 0, n % 2 == 0));
  run_everywhere(cases);
}

TEST(Sort, any_axis_of_any_rank) {
  std::vector<KernelCase> cases;
  for (int axis = 0; axis < 4; ++axis)
    cases.push_back(sort_case(random_tensor(DType::i32, {3, 19, 5, 37}, 3), axis, axis > 1));
  cases.push_back(sort_case(random_tensor(DType::i32, {4, 0, 3}, 3), 1, false));
  cases.push_back(sort_case(random_tensor(DType::i32, {0, 5}, 3), 1, false));
  run_everywhere(cases);
}

TEST(Sort, operands_with_gaps) {
  std::vector<KernelCase> cases;
  for (int axis = 0; axis < 3; ++axis) {
    Tensor x = spread_out(random_tensor(DType::f32, {5, 40, 7}, 4));
    cases.push_back(sort_case(x, axis, false));
    Tensor turned = x.view(0, {7, 5, 40}, {x.strides()[2], x.strides()[0], x.strides()[1]});
    cases.push_back(sort_case(turned, axis, true));
  }
  run_everywhere(cases);
}

TEST(Sort, grows_like_a_merge_sort) {
  // The passes of a size: one for the runs, one for each doubling.
  KernelCase c = sort_case(random_tensor(DType::f32, {1 << 14}, 5, 1 << 20), 0, false);
  Prepared p = prepare(c, cuda_target());
  EXPECT_EQ(p.schedule.launches.size(), 1u + 10u);
}

}  // namespace
}  // namespace fuseline
