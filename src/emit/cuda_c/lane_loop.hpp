// The open lane loop of the printer: instructions of N lanes that one unrolled loop will hold.
#pragma once

#include <optional>
#include <vector>

#include "fuse/loop_ir.hpp"

namespace fuseline::cuda_c {

// One statement of the loop's body.
struct LaneStep {
  enum class Kind {
    value,    // inst's result, or what inst sets
    unpack,   // inst's result number `part`, from the array that was loaded
    pack,     // inst's stored value number `part`, into the array that will be stored
    reduce,   // the operand of inst, into the array that will be reduced
    count,    // the operand of inst, added to the count
    scatter,  // inst itself
  };
  Kind kind;
  const loop::Inst* inst;
  int part = 0;
};

struct LaneLoop {
  int lanes = 0;
  std::vector<LaneStep> steps;
  std::vector<loop::Id> scalars;          // 1-lane results that exist only behind the loop
  std::vector<const loop::Inst*> stores;  // written behind the loop, in this order

  bool empty() const { return steps.empty(); }
  bool makes(const loop::Inst& inst) const;  // whether inst uses one of `scalars`
};

// What a step defines lane by lane; no_id where that is nothing.
loop::Id result_of(const LaneStep& step);

// Which of the steps' results nothing but these steps uses.
std::vector<bool> inside_only(const LaneLoop& loop, const std::vector<int>& uses);

struct ValueFacts {
  std::vector<int> uses;  // by instructions that have an effect in the end; 0: never print it
  std::vector<loop::Type> types;
  std::vector<std::optional<std::uint64_t>> constants;
};
ValueFacts value_facts(const loop::Kernel& kernel);

// Whether a loop stores the single elements that vectors left over: a few threads run it, so that
// unrolling it only costs compile time.
bool stores_remainder(const loop::Inst& for_range, const ValueFacts& facts);

}  // namespace fuseline::cuda_c
