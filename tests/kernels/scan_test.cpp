// Prefixes: what is combined, in which direction, over how many chunks.
#include "kernels/support.hpp"

namespace fuseline {
namespace {

using namespace test;

KernelCase scan_case(const Tensor& x, int axis, ScanOptions options) {
  KernelCase c;
  c.graph.output("out", scan(c.input(x), axis, options));
  return c;
}

Tensor tame(DType dtype, const Shape& shape) {
  Tensor x = random_tensor(dtype, shape, 7, 9);
  auto width = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t i = 0; is_float(dtype) && i < x.size(); ++i) {
    Number n = load_number(x.as<char>() + i * width, dtype);
    if (!std::isfinite(n.d)) n.d = 0.5;
    store_number(x.as<char>() + i * width, dtype, n);
  }
  return x;
}

TEST(Scan, every_type_and_combination) {
  std::vector<KernelCase> cases;
  for (DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32,
                      DType::u64, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64})
    for (Combine combine : {Combine::add, Combine::mul, Combine::min, Combine::max})
      cases.push_back(scan_case(tame(dtype, {2, 11}), 1, {combine}));
  run_everywhere(cases);
}

TEST(Scan, directions_and_sizes) {
  std::vector<KernelCase> cases;
  for (std::int64_t n : {0, 1, 2, 3, 63, 64, 65, 127, 257, 8209, 33331})
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true})
        cases.push_back(scan_case(tame(n > 300 ? DType::i64 : DType::f32, {n}), 0,
                                  {Combine::add, exclusive, reverse}));
  run_everywhere(cases);
}

TEST(Scan, chunks_of_floats_stay_within_the_bound) {
  std::vector<KernelCase> cases;
  for (DType dtype : {DType::f16, DType::f32, DType::f64})
    cases.push_back(scan_case(tame(dtype, {20011}), 0, {Combine::add}));
  cases.push_back(scan_case(random_tensor(DType::f32, {20011}, 8), 0, {Combine::max, true}));
  run_everywhere(cases);
}

TEST(Scan, axes_and_gaps) {
  std::vector<KernelCase> cases;
  for (int axis = 0; axis < 3; ++axis) {
    cases.push_back(scan_case(tame(DType::i32, {5, 70, 7}), axis, {Combine::max, axis == 1}));
    cases.push_back(scan_case(spread_out(tame(DType::f32, {5, 70, 7})), axis, {Combine::add}));
  }
  run_everywhere(cases);
}

}  // namespace
}  // namespace fuseline
