// Planted faults. None of them can make a kernel touch memory that it does not own.
#include "fuzz/mutations.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace fuseline::fuzz {
namespace {

using loop::Block;
using loop::Id;
using loop::Inst;
using loop::Kernel;
using loop::Op;

void visit(Block& block, const std::function<void(Inst&)>& f) {
  for (Inst& inst : block.insts) {
    f(inst);
    for (Block& inner : inst.blocks) visit(inner, f);
  }
}

// Ids that decide addresses or control flow: changing them could leave the buffers.
std::vector<bool> address_ids(Kernel& kernel) {
  std::vector<bool> used(kernel.values);
  for (int round = 0; round < 64; ++round)
    visit(kernel.body, [&](Inst& inst) {
      bool memory = inst.buffer >= 0 && !inst.args.empty();
      if (memory) used[inst.args[0]] = true;
      if (inst.op == Op::for_range || inst.op == Op::if_then)
        for (Id arg : inst.args) used[arg] = true;
      bool passes_on = inst.result != loop::no_id && used[inst.result] && inst.buffer < 0;
      if (passes_on)
        for (Id arg : inst.args) used[arg] = true;
    });
  return used;
}

// Changes the first instruction that fits and decides no address.
bool change_first(Kernel& kernel, const std::function<bool(Inst&)>& change) {
  std::vector<bool> addresses = address_ids(kernel);
  bool done = false;
  visit(kernel.body, [&](Inst& inst) {
    if (done) return;
    if (inst.result != loop::no_id && addresses[inst.result]) return;
    done = change(inst);
  });
  return done;
}

Mutation computed(std::string name, std::function<bool(Inst&)> change) {
  return {std::move(name), [change](Kernel& kernel) { return change_first(kernel, change); }};
}

bool is_compute(const Inst& inst, Intrinsic fn) { return inst.op == Op::compute && inst.fn == fn; }

Mutation replaced(std::string name, Intrinsic from, Intrinsic to) {
  return computed(std::move(name), [=](Inst& inst) {
    if (!is_compute(inst, from)) return false;
    inst.fn = to;
    return true;
  });
}

bool swap_channels(Kernel& kernel) {
  Id first = loop::no_id;
  visit(kernel.body, [&](Inst& inst) {
    if (first == loop::no_id && inst.op == Op::load_group) first = inst.result;
  });
  if (first == loop::no_id) return false;
  visit(kernel.body, [&](Inst& inst) {
    for (Id& arg : inst.args)
      if (arg == first || arg == first + 1) arg = arg == first ? first + 1 : first;
  });
  return true;
}

// The loop over what the vector loop left: the last one of a block that has a vector loop.
bool drop_tail(Block& block) {
  int loops = 0;
  for (Inst& inst : block.insts) {
    loops += inst.op == Op::for_range;
    for (Block& inner : inst.blocks)
      if (drop_tail(inner)) return true;
  }
  if (loops < 2) return false;
  auto last = std::find_if(block.insts.rbegin(), block.insts.rend(),
                           [](const Inst& i) { return i.op == Op::for_range; });
  last->blocks[0].insts.clear();
  return true;
}

bool keep_ticket(Kernel& kernel) {
  bool done = false;
  std::function<void(Block&)> walk = [&](Block& block) {
    auto is_reset = [&](const Inst& inst) {
      return inst.op == Op::store &&
             kernel.buffers[static_cast<std::size_t>(inst.buffer)].name == "ticket";
    };
    done = std::erase_if(block.insts, is_reset) > 0 || done;
    for (Inst& inst : block.insts)
      for (Block& inner : inst.blocks) walk(inner);
  };
  walk(kernel.body);
  return done;
}

bool skip_first_partial(Kernel& kernel) {
  bool done = false;
  visit(kernel.body, [&](Inst& inst) {
    if (done || inst.op != Op::for_range) return;
    bool over_partials = false;
    visit(inst.blocks[0], [&](Inst& inner) {
      over_partials =
          over_partials ||
          (inner.op == Op::load && inner.buffer >= 0 &&
           kernel.buffers[static_cast<std::size_t>(inner.buffer)].name.starts_with("part"));
    });
    if (!over_partials) return;
    inst.args[0] = inst.args[2];  // begins at the step: 1
    done = true;
  });
  return done;
}

bool spoil_initial(Kernel& kernel) {
  std::map<Id, Inst*> made;
  bool done = false;
  visit(kernel.body, [&](Inst& inst) {
    if (inst.result != loop::no_id) made[inst.result] = &inst;
    if (done || inst.op != Op::var) return;
    Inst* initial = made[inst.args[0]];
    if (!initial || initial->op != Op::constant) return;
    if (initial->type.dtype == DType::f32)
      initial->imm = std::bit_cast<std::uint32_t>(1000.0f);
    else if (initial->type.dtype == DType::f64)
      initial->imm = std::bit_cast<std::uint64_t>(1000.0);
    else
      initial->imm ^= 3;
    done = true;
  });
  return done;
}

std::vector<Mutation> make_mutations() {
  std::vector<Mutation> all;
  all.push_back(computed("operands of sub swapped", [](Inst& inst) {
    if (!is_compute(inst, Intrinsic::sub)) return false;
    std::swap(inst.args[0], inst.args[1]);
    return true;
  }));
  all.push_back(replaced("lt becomes le", Intrinsic::lt, Intrinsic::le));
  all.push_back(replaced("min becomes max", Intrinsic::min, Intrinsic::max));
  all.push_back(replaced("eq becomes ne", Intrinsic::eq, Intrinsic::ne));
  all.push_back(replaced("add becomes sub", Intrinsic::add, Intrinsic::sub));
  all.push_back(replaced("and becomes or", Intrinsic::bit_and, Intrinsic::bit_or));
  all.push_back(computed("branches of select swapped", [](Inst& inst) {
    if (inst.op != Op::select) return false;
    std::swap(inst.args[1], inst.args[2]);
    return true;
  }));
  all.push_back(computed("f16 rounded as bf16", [](Inst& inst) {
    if (inst.op != Op::round_to || inst.imm != static_cast<std::uint64_t>(DType::f16)) return false;
    inst.imm = static_cast<std::uint64_t>(DType::bf16);
    return true;
  }));
  all.push_back(computed("lanes reduced by another function", [](Inst& inst) {
    if (inst.op != Op::reduce_lanes) return false;
    inst.fn = inst.fn == Intrinsic::add ? Intrinsic::max : Intrinsic::add;
    return true;
  }));
  all.push_back(computed("a float constant changes sign", [](Inst& inst) {
    if (inst.op != Op::constant || !is_float(inst.type.dtype) || inst.imm == 0) return false;
    inst.imm ^= std::uint64_t{1} << (8 * size_of(inst.type.dtype) - 1);
    return true;
  }));
  all.push_back(computed("float to integer does not truncate", [](Inst& inst) {
    if (inst.op != Op::compute || inst.fn != Intrinsic::rint) return false;
    inst.fn = Intrinsic::floor;
    return true;
  }));
  all.push_back({"two channels swapped", swap_channels});
  all.push_back({"the elements behind the last full vector are left out",
                 [](Kernel& kernel) { return drop_tail(kernel.body); }});
  all.push_back({"the ticket is not reset", keep_ticket});
  all.push_back({"the first block's part is left out", skip_first_partial});
  all.push_back({"an accumulator starts wrong", spoil_initial});
  return all;
}

}  // namespace

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all = make_mutations();
  return all;
}

}  // namespace fuseline::fuzz
