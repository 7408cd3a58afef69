// Builder: types of results follow from the operands.
#include "fuse/loop_builder.hpp"

#include <bit>

#include "base/fail.hpp"
#include "fuse/loop_ops.hpp"

namespace fuseline::loop {

int Builder::add_buffer(Buffer buffer) {
  kernel_.buffers.push_back(std::move(buffer));
  return static_cast<int>(kernel_.buffers.size()) - 1;
}

int Builder::add_param(Param param) {
  kernel_.params.push_back(std::move(param));
  return static_cast<int>(kernel_.params.size()) - 1;
}

Id Builder::new_id(Type type) {
  types_.push_back(type);
  return kernel_.values++;
}

Id Builder::emit(Inst inst) {
  inst.result = new_id(inst.type);
  block_->insts.push_back(std::move(inst));
  return block_->insts.back().result;
}

void Builder::emit_void(Inst inst) { block_->insts.push_back(std::move(inst)); }

Id Builder::constant(DType dtype, std::uint64_t bits, int lanes) {
  return emit({.op = Op::constant, .type = {dtype, lanes}, .imm = bits});
}

Id Builder::integer(DType dtype, std::int64_t value, int lanes) {
  std::uint64_t bits = static_cast<std::uint64_t>(value);
  std::size_t width = 8 * size_of(dtype);
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  return constant(dtype, bits, lanes);
}

Id Builder::real(DType dtype, double value, int lanes) {
  if (dtype == DType::f64) return constant(dtype, std::bit_cast<std::uint64_t>(value), lanes);
  return constant(dtype, std::bit_cast<std::uint32_t>(static_cast<float>(value)), lanes);
}

Id Builder::param(int position) {
  DType dtype = kernel_.params[static_cast<std::size_t>(position)].dtype;
  return emit({.op = Op::param, .type = {dtype, 1}, .imm = static_cast<std::uint64_t>(position)});
}

Id Builder::compute(Intrinsic fn, std::initializer_list<Id> args) {
  return compute(fn, std::vector<Id>(args));
}

Id Builder::compute(Intrinsic fn, const std::vector<Id>& args) {
  Type type = type_of(args[0]);
  if (info(fn).cls == IntrinsicClass::cmp) type.dtype = DType::bool_;
  return emit({.op = Op::compute, .type = type, .args = args, .fn = fn});
}

Id Builder::select(Id condition, Id a, Id b) {
  return emit({.op = Op::select, .type = type_of(a), .args = {condition, a, b}});
}

Id Builder::cast(DType to, Id a, CastMode mode) {
  if (type_of(a).dtype == to) return a;
  return emit({.op = Op::cast, .type = {to, type_of(a).lanes}, .args = {a}, .mode = mode});
}

Id Builder::bitcast(DType to, Id a) {
  return emit({.op = Op::bitcast, .type = {to, type_of(a).lanes}, .args = {a}});
}

Id Builder::round_to(DType memory_type, Id a) {
  return emit({.op = Op::round_to,
               .type = type_of(a),
               .args = {a},
               .imm = static_cast<std::uint64_t>(memory_type)});
}

Id Builder::splat(Id a, int lanes) {
  if (type_of(a).lanes == lanes) return a;
  return emit({.op = Op::splat, .type = {type_of(a).dtype, lanes}, .args = {a}});
}

Id Builder::ramp(Id start, int lanes) {
  return emit({.op = Op::ramp, .type = {type_of(start).dtype, lanes}, .args = {start}});
}

Id Builder::reduce_lanes(Intrinsic fn, Id a) {
  return emit({.op = Op::reduce_lanes, .type = {type_of(a).dtype, 1}, .args = {a}, .fn = fn});
}

Id Builder::count_lanes(Id a) {
  return emit({.op = Op::count_lanes, .type = {DType::i32, 1}, .args = {a}});
}

Id Builder::load(int buffer, Id index, int lanes, int align, bool streaming) {
  DType dtype = register_type(kernel_.buffers[static_cast<std::size_t>(buffer)].dtype);
  return emit({.op = Op::load,
               .type = {dtype, lanes},
               .args = {index},
               .buffer = buffer,
               .align = align,
               .streaming = streaming});
}

std::vector<Id> Builder::load_group(int buffer, Id index, int channels, int lanes, int align,
                                    bool streaming) {
  DType dtype = register_type(kernel_.buffers[static_cast<std::size_t>(buffer)].dtype);
  Id first = emit({.op = Op::load_group,
                   .type = {dtype, lanes},
                   .args = {index},
                   .buffer = buffer,
                   .channels = channels,
                   .align = align,
                   .streaming = streaming});
  std::vector<Id> ids = {first};
  for (int c = 1; c < channels; ++c) ids.push_back(new_id({dtype, lanes}));
  return ids;
}

Id Builder::gather(int buffer, Id index) {
  DType dtype = register_type(kernel_.buffers[static_cast<std::size_t>(buffer)].dtype);
  return emit(
      {.op = Op::gather, .type = {dtype, type_of(index).lanes}, .args = {index}, .buffer = buffer});
}

void Builder::store(int buffer, Id index, Id value, int align, bool streaming) {
  emit_void({.op = Op::store,
             .type = type_of(value),
             .args = {index, value},
             .buffer = buffer,
             .align = align,
             .streaming = streaming});
}

void Builder::store_group(int buffer, Id index, const std::vector<Id>& values, int align,
                          bool streaming) {
  Inst inst{.op = Op::store_group,
            .type = type_of(values[0]),
            .args = {index},
            .buffer = buffer,
            .channels = static_cast<int>(values.size()),
            .align = align,
            .streaming = streaming};
  inst.args.insert(inst.args.end(), values.begin(), values.end());
  emit_void(std::move(inst));
}

void Builder::scatter(int buffer, Id index, Id value) {
  emit_void({.op = Op::scatter, .type = type_of(value), .args = {index, value}, .buffer = buffer});
}

void Builder::set(Id variable, Id value) {
  emit_void({.op = Op::set, .type = type_of(value), .args = {variable, value}});
}

void Builder::for_range(Id begin, Id end, Id step, const std::function<void(Id)>& body) {
  Inst inst{.op = Op::for_range, .type = type_of(begin), .args = {begin, end, step}};
  inst.result = new_id(inst.type);
  inst.blocks.resize(1);
  Id counter = inst.result;
  // The nested block is filled on the side: growing the outer block would move it.
  Block inner;
  Block* outer = std::exchange(block_, &inner);
  body(counter);
  block_ = outer;
  inst.blocks[0] = std::move(inner);
  emit_void(std::move(inst));
}

void Builder::if_then(Id condition, const std::function<void()>& then,
                      const std::function<void()>& otherwise) {
  Inst inst{.op = Op::if_then, .args = {condition}};
  inst.blocks.resize(2);
  Block inner[2];
  Block* outer = block_;
  block_ = &inner[0];
  then();
  block_ = &inner[1];
  if (otherwise) otherwise();
  block_ = outer;
  for (int i = 0; i < 2; ++i) inst.blocks[static_cast<std::size_t>(i)] = std::move(inner[i]);
  emit_void(std::move(inst));
}

void Builder::barrier() { emit_void({.op = Op::barrier}); }
void Builder::fence() { emit_void({.op = Op::fence}); }

Id Builder::shuffle_down(Id value, Id distance) {
  return emit({.op = Op::shuffle_down, .type = type_of(value), .args = {value, distance}});
}

Id Builder::ballot_count(Id condition) {
  return emit({.op = Op::ballot_count, .type = {DType::i32, 1}, .args = {condition}});
}

Id Builder::warp_sum(Id value) {
  return emit({.op = Op::warp_sum, .type = type_of(value), .args = {value}});
}

Id Builder::atomic_add(int buffer, Id index, Id value) {
  return emit(
      {.op = Op::atomic_add, .type = type_of(value), .args = {index, value}, .buffer = buffer});
}

}  // namespace fuseline::loop
