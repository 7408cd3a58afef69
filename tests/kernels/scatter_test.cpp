// Placing: combinations, equal indices in order, indices outside, distinct ones.
#include <algorithm>
#include <numeric>

#include "kernels/support.hpp"

namespace fuseline {
namespace {

using namespace test;

Tensor indices_below(std::int64_t count, std::int64_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensor indices = Tensor::allocate(DType::i64, {count});
  for (std::int64_t i = 0; i < count; ++i)  // two values outside
    indices.as<std::int64_t>()[i] =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows + 2)) - 1;
  return indices;
}

Tensor some_order(std::int64_t count) {
  Tensor indices = Tensor::allocate(DType::i64, {count});
  auto* first = indices.as<std::int64_t>();
  std::iota(first, first + count, -1);
  std::shuffle(first, first + count, std::mt19937_64(3));
  return indices;
}

struct Sizes {
  std::int64_t rows, columns, count;
};

KernelCase scatter_case(DType dtype, Sizes s, Combine combine, bool distinct = false,
                        bool gaps = false) {
  KernelCase c;
  auto value = [&](Tensor tensor) { return c.input(gaps ? spread_out(tensor) : tensor); };
  Value data = value(random_tensor(dtype, {s.rows, s.columns}, 1));
  Value at = value(distinct ? some_order(s.count) : indices_below(s.count, s.rows, 2));
  Value updates = value(random_tensor(dtype, {s.count, s.columns}, 3));
  c.graph.output("out", scatter(data, at, updates, combine, distinct));
  return c;
}

constexpr Combine all_combinations[] = {Combine::set, Combine::add, Combine::mul, Combine::min,
                                        Combine::max};

TEST(Scatter, every_type_and_combination) {
  std::vector<KernelCase> cases;
  for (DType dtype : {DType::u8, DType::i16, DType::u32, DType::i64, DType::f16, DType::bf16,
                      DType::f32, DType::f64})
    for (Combine combine : all_combinations)
      cases.push_back(scatter_case(dtype, {7, 3, 40}, combine));
  cases.push_back(scatter_case(DType::bool_, {7, 3, 40}, Combine::set));
  run_everywhere(cases);
}

TEST(Scatter, sizes) {
  std::vector<KernelCase> cases;
  for (std::int64_t rows : {0, 1, 2, 13, 257})
    for (std::int64_t count : {0, 1, 17, 1031})
      for (std::int64_t columns : {0, 1, 5})
        cases.push_back(scatter_case(DType::f32, {rows, columns, count}, Combine::add));
  run_everywhere(cases);
}

TEST(Scatter, distinct_indices_and_gaps) {
  std::vector<KernelCase> cases;
  for (Combine combine : all_combinations) {
    cases.push_back(scatter_case(DType::i32, {50, 2, 40}, combine, true));
    cases.push_back(scatter_case(DType::f32, {50, 2, 5000}, combine, true));
    cases.push_back(scatter_case(DType::f32, {50, 3, 70}, combine, false, true));
    cases.push_back(scatter_case(DType::i64, {50, 3, 45}, combine, true, true));
  }
  run_everywhere(cases);
}

TEST(Scatter, one_place_takes_everything_in_order) {
  KernelCase c;
  Tensor zero = Tensor::allocate(DType::i64, {4099});
  std::fill_n(zero.as<std::int64_t>(), 4099, 0);
  Value data = c.input(random_tensor(DType::f32, {1, 1}, 1));
  Value at = c.input(zero), updates = c.input(random_tensor(DType::f32, {4099, 1}, 3));
  c.graph.output("out", scatter(data, at, updates, Combine::set));
  std::vector<KernelCase> cases;
  cases.push_back(std::move(c));
  run_everywhere(cases);
}

}  // namespace
}  // namespace fuseline
