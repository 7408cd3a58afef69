// Linear combinations: sums of products of small integers with constants, found in a kernel.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emit/llvm/analysis.hpp"

namespace fuseline::emit {

// constant + sum of coefficient * value + sum of the rest, modulo 2^32. Every value and every
// coefficient fits i16.
struct LinearCombination {
  struct Term {
    loop::Id value;
    std::int32_t coefficient;
  };
  struct Addend {
    loop::Id value;
    bool negative;
  };
  std::vector<Term> terms;
  std::vector<Addend> rest;
  std::int64_t constant = 0;
};

// The combinations of a kernel, by the instruction that completes each; what they took in needs
// no code of its own.
class LinearCombinations {
 public:
  // Finds none where they are not wanted: only some processors have an instruction for them.
  LinearCombinations(const loop::Kernel& kernel, const Analysis& analysis, bool wanted);

  const LinearCombination* at(const loop::Inst& inst) const;
  bool absorbed(const loop::Inst& inst) const {
    return inst.result != loop::no_id && absorbed_[inst.result];
  }

 private:
  void block(const loop::Block& block);
  void try_root(const loop::Inst& inst);
  void collect(loop::Id id, int sign, int block, LinearCombination& sum,
               std::vector<loop::Id>& inner, bool root) const;
  bool collect_product(const loop::Inst& inst, int sign, LinearCombination& sum) const;

  const Analysis& analysis_;
  std::unordered_map<loop::Id, LinearCombination> roots_;
  std::vector<bool> absorbed_;
};

}  // namespace fuseline::emit
