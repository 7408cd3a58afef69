// Divergence of values and of control flow in Loop IR.
#include "fuse/loop_spread.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fuse/loop_ops.hpp"

namespace fuseline::loop {
namespace {

// Between which threads a value may differ.
enum class Spread : std::uint8_t { none, warps, threads };

class Analysis {
 public:
  explicit Analysis(const Kernel& kernel)
      : kernel_(kernel),
        spread_(kernel.values, Spread::none),
        thread_id_(kernel.values),
        thread_count_(kernel.values),
        constant_(kernel.values, -1) {}

  std::string run() {
    // Variables only ever widen, so repeating until nothing changes ends after a few rounds.
    do {
      changed_ = false;
      fault_.clear();
      block(kernel_.body, Spread::none);
    } while (changed_);
    return fault_;
  }

 private:
  void widen(Id id, Spread spread) {
    if (spread <= spread_[id]) return;
    spread_[id] = spread;
    changed_ = true;
  }

  Spread operands(const Inst& inst) const {
    Spread all = Spread::none;
    for (Id arg : inst.args) all = std::max(all, spread_[arg]);
    return all;
  }

  bool whole_warps(Id id) const {
    return thread_count_[id] || (constant_[id] > 0 && constant_[id] % 32 == 0);
  }

  // thread / 32k, thread >> 5+, thread < 32k and thread >= 32k are equal within a warp.
  bool warp_wide(const Inst& inst) const {
    if (inst.args.size() != 2) return false;
    Id a = inst.args[0], b = inst.args[1];
    switch (inst.fn) {
      case Intrinsic::div:
      case Intrinsic::lt:
        return thread_id_[a] && whole_warps(b);
      case Intrinsic::le:
        return whole_warps(a) && thread_id_[b];
      case Intrinsic::shr:
        return thread_id_[a] && constant_[b] >= 5;
      default:
        return false;
    }
  }

  Spread of_result(const Inst& inst) const {
    switch (inst.op) {
      case Op::thread_id:
      case Op::atomic_add:
      case Op::shuffle_down:
      case Op::warp_sum:
        return Spread::threads;
      case Op::ballot_count:
        return Spread::warps;
      case Op::compute:
        return warp_wide(inst) ? Spread::warps : operands(inst);
      default:
        return operands(inst);
    }
  }

  void note(const Inst& inst) {
    if (inst.op == Op::constant && is_integer(inst.type.dtype) && inst.imm <= 1024)
      constant_[inst.result] = static_cast<int>(inst.imm);
    if (inst.op == Op::thread_id) thread_id_[inst.result] = true;
    if (inst.op == Op::thread_count) thread_count_[inst.result] = true;
    bool copies =
        inst.op == Op::cast && is_integer(inst.type.dtype) && size_of(inst.type.dtype) >= 4;
    if (copies && thread_id_[inst.args[0]]) thread_id_[inst.result] = true;
  }

  void check(const Inst& inst, Spread control) {
    if (!fault_.empty()) return;
    if (inst.op == Op::barrier && control != Spread::none)
      fault_ = "a barrier stands where threads of the block may diverge";
    bool warp_op =
        inst.op == Op::shuffle_down || inst.op == Op::ballot_count || inst.op == Op::warp_sum;
    if (warp_op && control == Spread::threads)
      fault_ = fmt::format("{} %{} stands where threads of a warp may diverge", op_name(inst.op),
                           inst.result);
  }

  void block(const Block& block, Spread control) {
    for (const Inst& inst : block.insts) {
      note(inst);
      check(inst, control);
      if (inst.op == Op::set) {
        widen(inst.args[0], std::max(control, spread_[inst.args[1]]));
        continue;
      }
      Spread result = of_result(inst);
      if (inst.result != no_id)
        for (int c = 0; c < (inst.op == Op::load_group ? inst.channels : 1); ++c)
          widen(inst.result + static_cast<Id>(c), result);
      for (const Block& inner : inst.blocks) this->block(inner, std::max(control, result));
    }
  }

  const Kernel& kernel_;
  std::vector<Spread> spread_;
  std::vector<bool> thread_id_, thread_count_;
  std::vector<int> constant_;
  bool changed_ = false;
  std::string fault_;
};

}  // namespace

std::string divergence_fault(const Kernel& kernel) { return Analysis(kernel).run(); }

}  // namespace fuseline::loop
