// Facts about Loop IR instructions that the verifier, the dump and the printers share.
#pragma once

#include <string_view>

#include "fuse/loop_ir.hpp"

namespace fuseline::loop {

constexpr std::string_view op_name(Op op) {
  constexpr std::string_view names[] = {
      "constant",   "param",        "block_id",    "block_count",  "thread_id",    "thread_count",
      "compute",    "select",       "cast",        "bitcast",      "round_to",     "splat",
      "ramp",       "reduce_lanes", "count_lanes", "load",         "load_group",   "gather",
      "store",      "store_group",  "scatter",     "var",          "get",          "set",
      "for_range",  "if_then",      "barrier",     "shuffle_down", "ballot_count", "warp_sum",
      "atomic_add", "fence"};
  static_assert(std::size(names) == static_cast<std::size_t>(Op::fence) + 1);
  return names[static_cast<std::size_t>(op)];
}

constexpr bool touches_memory(Op op) {
  return (op >= Op::load && op <= Op::scatter) || op == Op::atomic_add;
}

constexpr bool writes_memory(Op op) {
  return (op >= Op::store && op <= Op::scatter) || op == Op::atomic_add;
}

constexpr bool has_result(Op op) {
  return !(op >= Op::store && op <= Op::scatter) && op != Op::set && op != Op::if_then &&
         op != Op::barrier && op != Op::fence;
}

constexpr bool has_type(Op op) { return op != Op::if_then && op != Op::barrier && op != Op::fence; }

// The type in which an element of this memory type is computed with.
constexpr DType register_type(DType memory) {
  return memory == DType::f16 || memory == DType::bf16 ? DType::f32 : memory;
}

}  // namespace fuseline::loop
