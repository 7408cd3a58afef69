// Suppression of boxes, and copies of bits.
#include "kernels/support.hpp"

namespace fuseline {
namespace {

using namespace test;

template <class T>
Tensor scalar(T value) {
  Tensor tensor = Tensor::allocate(dtype_of<T>(), {});
  *tensor.as<T>() = value;
  return tensor;
}

Tensor random_boxes(std::int64_t groups, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensor boxes = Tensor::allocate(DType::f32, {groups, count, 4});
  for (std::int64_t i = 0; i < boxes.size(); ++i)
    boxes.as<float>()[i] = static_cast<float>(random() % 1000) / 100;
  return boxes;
}

KernelCase suppress_case(std::int64_t groups, std::int64_t count, float overlap, std::int64_t most,
                         bool gaps = false) {
  KernelCase c;
  Tensor boxes = random_boxes(groups, count, 1);
  Tensor candidates = random_tensor(DType::bool_, {groups, count}, 2, 8);
  Value b = c.input(gaps ? spread_out(boxes) : boxes);
  Value flags = c.input(gaps ? spread_out(candidates) : candidates);
  Value limit = c.input(scalar(overlap)), room = c.input(scalar(most));
  c.graph.output("out", suppress(b, flags, limit, room));
  return c;
}

TEST(Suppress, boxes_that_overlap_better_ones_go) {
  std::vector<KernelCase> cases;
  for (std::int64_t count : {0, 1, 2, 31, 128, 257})
    for (float overlap : {0.0f, 0.1f, 0.5f, 1.0f})
      for (std::int64_t most : {0, 1, 10, 1000})
        cases.push_back(suppress_case(3, count, overlap, most));
  cases.push_back(suppress_case(2, 50, 0.3f, 20, true));
  cases.push_back(suppress_case(0, 50, 0.3f, 20));
  run_everywhere(cases);
}

TEST(Suppress, boxes_without_area_stay) {
  KernelCase c;
  Tensor boxes = Tensor::allocate(DType::f32, {1, 3, 4});
  const float corners[] = {1, 1, 1, 1, 1, 1, 1, 1, std::nanf(""), 0, 1, 1};
  std::copy_n(corners, 12, boxes.as<float>());
  Tensor flags = Tensor::allocate(DType::bool_, {1, 3});
  std::fill_n(flags.as<bool>(), 3, true);
  Value b = c.input(boxes), f = c.input(flags);
  Value limit = c.input(scalar(0.5f)), room = c.input(scalar(std::int64_t{10}));
  c.graph.output("out", suppress(b, f, limit, room));
  Tensor stays = evaluate(c.graph, c.inputs)[0];
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stays.as<bool>()[i]) << i;
  std::vector<KernelCase> cases;
  cases.push_back(std::move(c));
  run_everywhere(cases);
}

TEST(BitCast, keeps_the_bits) {
  const std::pair<DType, DType> pairs[] = {
      {DType::u8, DType::i8},   {DType::bool_, DType::u8}, {DType::u8, DType::bool_},
      {DType::f16, DType::u16}, {DType::u16, DType::bf16}, {DType::bf16, DType::f16},
      {DType::f32, DType::i32}, {DType::u32, DType::f32},  {DType::i64, DType::f64},
      {DType::f64, DType::u64}, {DType::i32, DType::u32}};
  std::vector<KernelCase> cases;
  for (auto [from, to] : pairs)
    for (bool gaps : {false, true}) {
      KernelCase c;
      Tensor x = random_tensor(from, {3, 37}, 5);
      c.graph.output("out", bit_cast(c.input(gaps ? spread_out(x) : x), to));
      cases.push_back(std::move(c));
    }
  KernelCase empty;
  empty.graph.output("out", bit_cast(empty.input(random_tensor(DType::f32, {0}, 5)), DType::i32));
  cases.push_back(std::move(empty));
  run_everywhere(cases);
}

}  // namespace
}  // namespace fuseline
