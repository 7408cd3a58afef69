// The verifier of Loop IR: one small wrong kernel for every rule.
#include <gmock/gmock.h>

#include "fuse/loop_builder.hpp"
#include "fuse/loop_ir.hpp"
#include "fuseline/error.hpp"

namespace fuseline::loop {
namespace {

using ::testing::HasSubstr;

// A kernel that the verifier takes; tests then break it.
class LoopVerify : public ::testing::Test {
 protected:
  LoopVerify() {
    kernel.name = "k";
    kernel.threads = 64;
    in = b.add_buffer({"in", DType::u8});
    out = b.add_buffer({"out", DType::f32, true});
    half = b.add_buffer({"half", DType::f16, true});
    shared = b.add_buffer({"shared", DType::i32, true, Space::shared, 64});
    b.add_param({"n", DType::i64});
    zero = b.integer(DType::i32, 0);
    one = b.integer(DType::i32, 1);
    thread = b.thread_id();
    even = b.eq(b.rem(thread, b.integer(DType::i32, 2)), zero);
  }

  void rejects(const std::string& rule) {
#ifdef FUSELINE_ABORT_ON_INTERNAL_ERROR
    EXPECT_DEATH(verify(kernel), ::testing::HasSubstr(rule));
#else
    try {
      verify(kernel);
      ADD_FAILURE() << "not rejected: " << rule;
    } catch (const InternalError& error) {
      EXPECT_THAT(error.what(), HasSubstr(rule));
      EXPECT_THAT(error.what(), HasSubstr("kernel \"k\"")) << "the text of the kernel is missing";
    }
#endif
  }
  void add(Inst inst) { kernel.body.insts.push_back(std::move(inst)); }
  Inst& last() { return kernel.body.insts.back(); }

  Kernel kernel;
  Builder b{kernel};
  int in, out, half, shared;
  Id zero, one, thread, even;
};

TEST_F(LoopVerify, takes_a_right_kernel) {
  b.store(shared, thread, one);
  b.barrier();
  Id x = b.splat(b.cast(DType::f32, b.load(shared, zero)), 4);
  b.store(out, b.mul(thread, b.integer(DType::i32, 4)), x, 16, true);
  b.for_range(zero, one, one, [&](Id i) {
    b.if_then(b.lt(i, thread), [&] { b.store(half, i, b.real(DType::f32, 1)); });
  });
  EXPECT_NO_THROW(verify(kernel));
}

// --- names, threads, arguments -------------------------------------------------------------------

TEST_F(LoopVerify, name) {
  kernel.name = "2k";
#ifndef FUSELINE_ABORT_ON_INTERNAL_ERROR
  EXPECT_THROW(verify(kernel), InternalError);
#endif
  kernel.name = "k";
  EXPECT_NO_THROW(verify(kernel));
}
TEST_F(LoopVerify, threads) {
  kernel.threads = 48;
  rejects("threads must be 1 or a multiple of 32");
}
TEST_F(LoopVerify, too_many_threads) {
  kernel.threads = 2048;
  rejects("threads must be 1 or a multiple of 32");
}
TEST_F(LoopVerify, shared_memory_of_one_thread) {
  kernel.threads = 1;
  rejects("shared memory needs more than one thread");
}
TEST_F(LoopVerify, shared_array_without_a_size) {
  kernel.buffers[static_cast<std::size_t>(shared)].elements = 0;
  rejects("a shared array needs a size");
}
TEST_F(LoopVerify, half_parameter) {
  b.add_param({"h", DType::f16});
  rejects("parameters are never f16");
}
TEST_F(LoopVerify, unknown_parameter) {
  b.param(0);
  last().imm = 7;
  rejects("no such parameter");
}
TEST_F(LoopVerify, parameter_of_another_type) {
  b.param(0);
  last().type.dtype = DType::i32;
  rejects("the parameter has another type");
}

// --- scopes --------------------------------------------------------------------------------------

TEST_F(LoopVerify, value_used_behind_its_block) {
  Id inner = no_id;
  b.if_then(even, [&] { inner = b.add(one, one); });
  b.add(inner, one);
  rejects("an operand is used outside its scope");
}
TEST_F(LoopVerify, value_used_in_the_other_branch) {
  Id inner = no_id;
  b.if_then(
      even, [&] { inner = b.add(one, one); }, [&] { b.add(inner, one); });
  rejects("an operand is used outside its scope");
}
TEST_F(LoopVerify, counter_used_behind_its_loop) {
  Id counter = no_id;
  b.for_range(zero, one, one, [&](Id i) { counter = i; });
  b.add(counter, one);
  rejects("an operand is used outside its scope");
}
TEST_F(LoopVerify, value_used_before_it_is_defined) {
  b.add(one, one);
  last().args[0] = last().result;
  rejects("an operand is used outside its scope");
}
TEST_F(LoopVerify, value_that_does_not_exist) {
  b.add(one, one);
  last().args[0] = 1000;
  rejects("an operand does not exist");
}
TEST_F(LoopVerify, value_defined_twice) {
  b.add(one, one);
  add(last());
  rejects("a value is defined twice");
}
TEST_F(LoopVerify, result_beyond_the_count) {
  b.add(one, one);
  last().result = kernel.values;
  rejects("a result lies beyond Kernel::values");
}
TEST_F(LoopVerify, result_where_none_may_be) {
  b.barrier();
  last().result = kernel.values++;
  rejects("a result is missing or must not be");
}

// --- types ---------------------------------------------------------------------------------------

TEST_F(LoopVerify, half_in_a_register) {
  b.constant(DType::f16, 0);
  rejects("f16 and bf16 exist in memory only");
}
TEST_F(LoopVerify, constant_wider_than_its_type) {
  b.constant(DType::u8, 256);
  rejects("a constant must be zero-extended");
}
TEST_F(LoopVerify, bool_constant_of_two) {
  b.constant(DType::bool_, 2);
  rejects("a bool constant is 0 or 1");
}
TEST_F(LoopVerify, operands_of_two_types) {
  b.add(one, b.integer(DType::i64, 1));
  rejects("operands of compute have one type");
}
TEST_F(LoopVerify, operands_of_two_widths) {
  b.add(one, b.integer(DType::i32, 1, 4));
  rejects("operands of compute have one type");
}
TEST_F(LoopVerify, square_root_of_an_integer) {
  b.compute(Intrinsic::sqrt, {one});
  rejects("the intrinsic does not take this type");
}
TEST_F(LoopVerify, sum_of_bools) {
  b.add(even, even);
  rejects("the intrinsic does not take this type");
}
TEST_F(LoopVerify, shift_of_bools) {
  b.compute(Intrinsic::shl, {even, even});
  rejects("the intrinsic does not take this type");
}
TEST_F(LoopVerify, comparison_that_gives_no_bool) {
  b.lt(one, zero);
  last().type.dtype = DType::i32;
  rejects("the result of compute has the operands' type (or bool)");
}
TEST_F(LoopVerify, one_operand_where_two_belong) {
  b.add(one, one);
  last().args.pop_back();
  rejects("wrong number of operands");
}
TEST_F(LoopVerify, select_by_a_number) {
  b.select(one, one, one);
  rejects("select needs a bool for every lane");
}
TEST_F(LoopVerify, select_by_one_lane) {
  b.select(even, b.integer(DType::u8, 1, 4), b.integer(DType::u8, 2, 4));
  rejects("select needs a bool for every lane");
}
TEST_F(LoopVerify, select_of_two_types) {
  b.select(even, one, b.real(DType::f32, 1));
  rejects("both sides of a select have its type");
}
TEST_F(LoopVerify, cast_that_changes_the_lanes) {
  b.cast(DType::i64, one);
  last().type.lanes = 4;
  rejects("a cast keeps the lanes");
}
TEST_F(LoopVerify, saturating_cast_of_an_integer) {
  b.cast(DType::u8, one, CastMode::saturate);
  rejects("a saturating cast goes from floating point to an integer");
}
TEST_F(LoopVerify, bitcast_of_another_size) {
  b.bitcast(DType::u64, b.real(DType::f32, 1));
  rejects("bitcast: f32 to or from");
}
TEST_F(LoopVerify, rounding_through_f32) {
  b.round_to(DType::f32, b.real(DType::f32, 1));
  rejects("round_to goes through f16 or bf16");
}
TEST_F(LoopVerify, splat_of_lanes) {
  b.splat(b.integer(DType::i32, 1, 2), 4);
  rejects("splat takes one lane");
}
TEST_F(LoopVerify, ramp_of_floats) {
  b.ramp(b.real(DType::f32, 0), 4);
  rejects("ramp takes one integer lane");
}
TEST_F(LoopVerify, reduction_of_three_lanes) {
  b.reduce_lanes(Intrinsic::add, b.integer(DType::i32, 1, 3));
  rejects("a power of two of lanes");
}
TEST_F(LoopVerify, reduction_by_subtraction) {
  b.reduce_lanes(Intrinsic::sub, b.integer(DType::i32, 1, 4));
  rejects("a commutative intrinsic");
}
TEST_F(LoopVerify, count_of_numbers) {
  b.count_lanes(b.integer(DType::i32, 1, 4));
  rejects("count_lanes: bool lanes to i32");
}

// --- memory --------------------------------------------------------------------------------------

TEST_F(LoopVerify, buffer_that_does_not_exist) {
  b.load(in, zero);
  last().buffer = 9;
  rejects("no such buffer");
}
TEST_F(LoopVerify, load_of_another_type) {
  b.load(in, zero);
  last().type.dtype = DType::f32;
  rejects("the buffer has another element type");
}
TEST_F(LoopVerify, write_to_an_input) {
  b.store(in, zero, b.integer(DType::u8, 1));
  rejects("not marked written");
}
TEST_F(LoopVerify, streaming_from_shared_memory) {
  b.load(shared, zero, 1, 0, true);
  rejects("streaming is for global memory");
}
TEST_F(LoopVerify, alignment_that_is_no_power_of_two) {
  b.load(in, zero, 4, 12);
  rejects("an alignment is a power of two");
}
TEST_F(LoopVerify, alignment_below_an_element) {
  b.store(out, zero, b.real(DType::f32, 1), 2);
  rejects("an alignment is a power of two");
}
TEST_F(LoopVerify, index_of_a_small_type) {
  b.load(in, b.integer(DType::u16, 1));
  rejects("an index is i32 or i64");
}
TEST_F(LoopVerify, index_with_lanes) {
  b.load(in, b.integer(DType::i32, 1, 4));
  rejects("an index is i32 or i64");
}
TEST_F(LoopVerify, gather_by_other_lanes) {
  b.gather(in, b.integer(DType::i32, 1, 4));
  last().type.lanes = 2;
  rejects("an index is i32 or i64");
}
TEST_F(LoopVerify, stored_value_of_another_width) {
  b.store(out, zero, b.real(DType::f32, 1));
  last().type.lanes = 4;
  rejects("a stored value has the instruction's type");
}
TEST_F(LoopVerify, group_that_lacks_a_channel) {
  b.store_group(out, zero, {b.real(DType::f32, 1), b.real(DType::f32, 2)});
  last().channels = 3;
  rejects("wrong number of operands");
}
TEST_F(LoopVerify, atomic_addition_of_floats) {
  b.atomic_add(out, zero, b.real(DType::f32, 1));
  rejects("atomic_add takes one lane of i32, u32 or u64");
}

// --- variables and control flow ------------------------------------------------------------------

TEST_F(LoopVerify, variable_used_without_get) {
  Id v = b.var(one);
  b.add(v, one);
  rejects("a variable is used without get");
}
TEST_F(LoopVerify, get_of_a_value) {
  b.get(one);
  rejects("get and set need a variable");
}
TEST_F(LoopVerify, set_of_another_type) {
  Id v = b.var(one);
  b.set(v, b.integer(DType::i64, 1));
  rejects("get and set have the variable's type");
}
TEST_F(LoopVerify, loop_over_floats) {
  Id x = b.real(DType::f32, 1);
  b.for_range(x, x, x, [](Id) {});
  rejects("a loop counts in i32 or i64");
}
TEST_F(LoopVerify, loop_bounds_of_two_types) {
  b.for_range(zero, b.integer(DType::i64, 4), one, [](Id) {});
  rejects("the bounds of a loop have the counter's type");
}
TEST_F(LoopVerify, loop_that_never_ends) {
  b.for_range(zero, one, zero, [](Id) {});
  rejects("a loop's step is positive");
}
TEST_F(LoopVerify, loop_that_runs_backwards) {
  b.for_range(zero, one, b.integer(DType::i32, -1), [](Id) {});
  rejects("a loop's step is positive");
}
TEST_F(LoopVerify, condition_that_is_a_number) {
  b.if_then(one, [] {});
  rejects("a condition is one bool");
}
TEST_F(LoopVerify, branch_without_a_second_block) {
  b.if_then(even, [] {});
  last().blocks.pop_back();
  rejects("wrong number of nested blocks");
}

// --- threads -------------------------------------------------------------------------------------

TEST_F(LoopVerify, barrier_of_one_thread) {
  Kernel single;
  single.name = "k";
  Builder(single).barrier();
  kernel = single;
  rejects("barriers, shuffles and ballots need more than one thread");
}
TEST_F(LoopVerify, shuffle_by_an_i64) {
  b.shuffle_down(one, b.integer(DType::i64, 1));
  rejects("a shuffle distance is one i32");
}
TEST_F(LoopVerify, ballot_of_a_number) {
  b.ballot_count(one);
  rejects("ballot_count: one bool to i32");
}
TEST_F(LoopVerify, barrier_where_the_thread_decides) {
  b.if_then(even, [&] { b.barrier(); });
  rejects("a barrier stands where threads of the block may diverge");
}
TEST_F(LoopVerify, barrier_where_loaded_data_decide) {
  Id x = b.load(in, thread);
  b.if_then(b.eq(x, b.integer(DType::u8, 0)), [&] { b.barrier(); });
  rejects("a barrier stands where");
}
TEST_F(LoopVerify, barrier_in_a_loop_whose_length_the_thread_decides) {
  b.for_range(zero, thread, one, [&](Id) { b.barrier(); });
  rejects("a barrier stands where");
}
TEST_F(LoopVerify, barrier_behind_a_variable_that_a_branch_set) {
  Id v = b.var(zero);
  b.if_then(even, [&] { b.set(v, one); });
  b.if_then(b.eq(b.get(v), one), [&] { b.barrier(); });
  rejects("a barrier stands where");
}
TEST_F(LoopVerify, barrier_behind_a_variable_that_a_later_round_sets) {
  Id v = b.var(zero);
  b.for_range(zero, one, one, [&](Id) {
    b.if_then(b.eq(b.get(v), one), [&] { b.barrier(); });
    b.set(v, thread);
  });
  rejects("a barrier stands where");
}
TEST_F(LoopVerify, barrier_where_a_ballot_decides) {
  b.if_then(b.eq(b.ballot_count(even), one), [&] { b.barrier(); });
  rejects("a barrier stands where");
}
TEST_F(LoopVerify, shuffle_where_the_lane_decides) {
  b.if_then(even, [&] { b.shuffle_down(one, one); });
  rejects("stands where threads of a warp may diverge");
}
TEST_F(LoopVerify, shuffle_in_the_first_warp_is_fine) {
  b.if_then(b.lt(thread, b.integer(DType::i32, 32)), [&] { b.shuffle_down(one, one); });
  Id warp = b.compute(Intrinsic::shr, {thread, b.integer(DType::i32, 5)});
  b.if_then(b.eq(warp, one), [&] { b.ballot_count(even); });
  EXPECT_NO_THROW(verify(kernel));
}
TEST_F(LoopVerify, barrier_where_all_threads_read_the_same_is_fine) {
  b.store(shared, thread, one);
  b.barrier();
  b.if_then(b.eq(b.load(shared, zero), one), [&] { b.barrier(); });
  EXPECT_NO_THROW(verify(kernel));
}

}  // namespace
}  // namespace fuseline::loop
