// Builder: writes Loop IR instructions at a cursor; blocks nest through C++ lambdas.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "fuse/loop_ir.hpp"

namespace fuseline::loop {

class Builder {
 public:
  explicit Builder(Kernel& kernel) : kernel_(kernel), block_(&kernel.body) {}

  int add_buffer(Buffer buffer);
  int add_param(Param param);

  Type type_of(Id id) const { return types_[id]; }

  Id constant(DType dtype, std::uint64_t bits, int lanes = 1);
  Id integer(DType dtype, std::int64_t value, int lanes = 1);
  Id real(DType dtype, double value, int lanes = 1);  // f32 or f64
  Id param(int position);
  Id block_id() { return emit({.op = Op::block_id, .type = {DType::i64, 1}}); }
  Id block_count() { return emit({.op = Op::block_count, .type = {DType::i64, 1}}); }
  Id thread_count() { return emit({.op = Op::thread_count, .type = {DType::i32, 1}}); }
  Id thread_id() { return emit({.op = Op::thread_id, .type = {DType::i32, 1}}); }

  Id compute(Intrinsic fn, std::initializer_list<Id> args);
  Id compute(Intrinsic fn, const std::vector<Id>& args);
  Id add(Id a, Id b) { return compute(Intrinsic::add, {a, b}); }
  Id sub(Id a, Id b) { return compute(Intrinsic::sub, {a, b}); }
  Id mul(Id a, Id b) { return compute(Intrinsic::mul, {a, b}); }
  Id div(Id a, Id b) { return compute(Intrinsic::div, {a, b}); }
  Id rem(Id a, Id b) { return compute(Intrinsic::rem, {a, b}); }
  Id min(Id a, Id b) { return compute(Intrinsic::min, {a, b}); }
  Id max(Id a, Id b) { return compute(Intrinsic::max, {a, b}); }
  Id lt(Id a, Id b) { return compute(Intrinsic::lt, {a, b}); }
  Id le(Id a, Id b) { return compute(Intrinsic::le, {a, b}); }
  Id eq(Id a, Id b) { return compute(Intrinsic::eq, {a, b}); }
  Id select(Id condition, Id a, Id b);
  Id cast(DType to, Id a, CastMode mode = CastMode::plain);
  Id bitcast(DType to, Id a);
  Id round_to(DType memory_type, Id a);
  Id splat(Id a, int lanes);  // a itself when it already has that many lanes
  Id ramp(Id start, int lanes);
  Id reduce_lanes(Intrinsic fn, Id a);
  Id count_lanes(Id a);

  Id load(int buffer, Id index, int lanes = 1, int align = 0, bool streaming = false);
  std::vector<Id> load_group(int buffer, Id index, int channels, int lanes, int align = 0,
                             bool streaming = false);
  Id gather(int buffer, Id index);
  void store(int buffer, Id index, Id value, int align = 0, bool streaming = false);
  void store_group(int buffer, Id index, const std::vector<Id>& values, int align = 0,
                   bool streaming = false);
  void scatter(int buffer, Id index, Id value);

  Id var(Id initial) { return emit({.op = Op::var, .type = type_of(initial), .args = {initial}}); }
  Id get(Id variable) {
    return emit({.op = Op::get, .type = type_of(variable), .args = {variable}});
  }
  void set(Id variable, Id value);

  void for_range(Id begin, Id end, Id step, const std::function<void(Id)>& body);
  void if_then(Id condition, const std::function<void()>& then,
               const std::function<void()>& otherwise = {});

  void barrier();
  void fence();
  Id shuffle_down(Id value, Id distance);
  Id ballot_count(Id condition);
  Id warp_sum(Id value);  // i32
  Id atomic_add(int buffer, Id index, Id value);

 private:
  Id emit(Inst inst);  // gives the result an id
  void emit_void(Inst inst);
  Id new_id(Type type);

  Kernel& kernel_;
  Block* block_;
  std::vector<Type> types_;
};

}  // namespace fuseline::loop
