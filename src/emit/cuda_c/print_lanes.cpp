// CUDA C from Loop IR: values of N lanes, and loads and stores of several elements.
#include "base/fail.hpp"
#include "emit/cuda_c/printer.hpp"
#include "fuse/loop_ops.hpp"

namespace fuseline::cuda_c {

using loop::Id;
using loop::Inst;
using loop::Op;

// Constants and splats are texts; other values of N lanes wait in the open loop.
bool Printer::lane_value(const Inst& inst) {
  if (inst.op == Op::constant) {
    names_[inst.result] = literal(inst.type.dtype, inst.imm);
    return true;
  }
  if (inst.op == Op::splat) {
    names_[inst.result] = arg(inst, 0);
    return true;
  }
  if (!has_type(inst.op) || inst.op == Op::for_range || inst.type.lanes == 1) return false;
  require(inst.op != Op::shuffle_down, "shuffle_down of more than one lane");
  if (inst.op == Op::set || facts_.uses[inst.result] > 0)
    add_step(inst.type.lanes, {LaneStep::Kind::value, &inst});
  return true;
}

void Printer::add_step(int lanes, LaneStep step) {
  if (!loop_.empty() && loop_.lanes != lanes) flush();
  loop_.lanes = lanes;
  loop_.steps.push_back(step);
}

// --- memory ------------------------------------------------------------------------------------

int Printer::alignment(const Inst& inst) const {
  return inst.align ? inst.align : static_cast<int>(size_of(buffer(inst).dtype));
}

void Printer::new_array(const Inst& inst) {
  std::string name = fmt::format("m{}", arrays_.size());
  arrays_[&inst] = name;
  line("alignas(16) {} {}[{}];", memory_name(buffer(inst).dtype), name,
       inst.type.lanes * inst.channels);
}

std::string Printer::array_lane(const Inst& inst, int part) const {
  const std::string& name = arrays_.at(&inst);
  if (inst.type.lanes == 1) return fmt::format("{}[{}]", name, part);
  if (inst.channels == 1) return name + "[l]";
  if (part == 0) return fmt::format("{}[{} * l]", name, inst.channels);
  return fmt::format("{}[{} * l + {}]", name, inst.channels, part);
}

void Printer::load(const Inst& inst) {
  DType memory = buffer(inst).dtype;
  const char* stream = inst.streaming ? "_stream" : "";
  if (inst.type.lanes * inst.channels == 1) {
    std::string text =
        inst.streaming ? fmt::format("load_stream({})", address(inst)) : element(inst);
    return define(inst.result, inst.type.dtype, from_memory(memory, text));
  }
  new_array(inst);
  line("load{}<{}>({}, {});", stream, alignment(inst), arrays_.at(&inst), address(inst));
  for (int c = 0; c < inst.channels; ++c) {
    Id id = inst.result + static_cast<Id>(c);
    std::string lane = array_lane(inst, c);
    if (from_memory(memory, lane) == lane)
      names_[id] = lane;
    else if (inst.type.lanes == 1)
      define(id, inst.type.dtype, from_memory(memory, lane));
    else if (facts_.uses[id] > 0)
      add_step(inst.type.lanes, {LaneStep::Kind::unpack, &inst, c});
  }
}

void Printer::store(const Inst& inst) {
  if (inst.type.lanes > 1) {
    for (int c = 0; c < inst.channels; ++c)
      add_step(inst.type.lanes, {LaneStep::Kind::pack, &inst, c});
    loop_.stores.push_back(&inst);
    return;
  }
  flush();
  if (inst.channels == 1) return store_one(inst);
  new_array(inst);
  for (int c = 0; c < inst.channels; ++c)
    line("{}", step_text({LaneStep::Kind::pack, &inst, c}, false));
  write_array(inst);
}

void Printer::store_one(const Inst& inst) {
  DType memory = buffer(inst).dtype;
  std::string value = to_memory(memory, arg(inst, 1));
  if (inst.streaming)
    line("store_stream({}, ({})({}));", address(inst), memory_name(memory), value);
  else
    line("{} = {};", element(inst), value);
}

void Printer::write_array(const Inst& inst) {
  line("store{}<{}>({}, {});", inst.streaming ? "_stream" : "", alignment(inst), address(inst),
       arrays_.at(&inst));
}

// Lanes write in order, and only after every lane of what stands before has read.
void Printer::scatter(const Inst& inst) {
  flush();
  add_step(inst.type.lanes, {LaneStep::Kind::scatter, &inst});
  flush();
}

// --- across lanes ------------------------------------------------------------------------------

void Printer::across(const Inst& inst) {
  int lanes = facts_.types[inst.args[0]].lanes;
  bool counts = inst.op == Op::count_lanes;
  if (lanes == 1)
    return define(inst.result, inst.type.dtype, (counts ? "(i32)" : "") + arg(inst, 0));
  if (facts_.uses[inst.result] == 0) return;
  add_step(lanes, {counts ? LaneStep::Kind::count : LaneStep::Kind::reduce, &inst});
  loop_.scalars.push_back(inst.result);
  names_[inst.result] = fmt::format("v{}", inst.result);
}

// Halves of the array meet until one lane is left.
void Printer::reduce(const Inst& inst) {
  std::string name = fmt::format("r{}", inst.result);
  for (int half = facts_.types[inst.args[0]].lanes / 2; half > 0; half /= 2) {
    std::string a = name + "[l]", b = fmt::format("{}[l + {}]", name, half);
    line("#pragma unroll");
    line("for (i32 l = 0; l < {}; ++l) {} = {};", half, a, binary(inst.fn, inst.type.dtype, a, b));
  }
  define(inst.result, inst.type.dtype, name + "[0]");
}

// --- the open loop -----------------------------------------------------------------------------

void Printer::flush() {
  if (loop_.empty()) return;
  LaneLoop loop = std::exchange(loop_, {});
  std::vector<bool> inside = inside_only(loop, facts_.uses);
  for (std::size_t i = 0; i < loop.steps.size(); ++i) declare(loop.steps[i], inside[i]);
  line("#pragma unroll");
  line("for (i32 l = 0; l < {}; ++l) {{", loop.lanes);
  indent_ += 2;
  for (std::size_t i = 0; i < loop.steps.size(); ++i)
    line("{}", step_text(loop.steps[i], inside[i]));
  indent_ -= 2;
  line("}}");
  for (const LaneStep& step : loop.steps)
    if (step.kind == LaneStep::Kind::reduce) reduce(*step.inst);
  for (const Inst* store : loop.stores) write_array(*store);
}

// Names what a step defines, and writes the declarations that stand before the loop.
void Printer::declare(const LaneStep& step, bool inside) {
  const Inst& inst = *step.inst;
  switch (step.kind) {
    case LaneStep::Kind::pack:
      if (step.part == 0) new_array(inst);
      break;
    case LaneStep::Kind::reduce:
      line("{} r{}[{}];", register_name(inst.type.dtype), inst.result,
           facts_.types[inst.args[0]].lanes);
      break;
    case LaneStep::Kind::count:
      line("i32 {} = 0;", names_[inst.result]);
      break;
    default:
      break;
  }
  Id id = result_of(step);
  if (id == loop::no_id) return;
  names_[id] = fmt::format("v{}{}", id, inside ? "" : "[l]");
  if (!inside) line("{} v{}[{}];", register_name(inst.type.dtype), id, inst.type.lanes);
}

std::string Printer::step_text(const LaneStep& step, bool inside) const {
  const Inst& inst = *step.inst;
  switch (step.kind) {
    case LaneStep::Kind::pack:
      return fmt::format(
          "{} = {};", array_lane(inst, step.part),
          to_memory(buffer(inst).dtype, arg(inst, 1 + static_cast<std::size_t>(step.part))));
    case LaneStep::Kind::reduce:
      return fmt::format("r{}[l] = {};", inst.result, arg(inst, 0));
    case LaneStep::Kind::count:
      return fmt::format("{} += (i32){};", names_[inst.result], arg(inst, 0));
    case LaneStep::Kind::scatter:
      return fmt::format("{} = {};", element(inst), to_memory(buffer(inst).dtype, arg(inst, 1)));
    default:
      return value_step_text(step, inside);
  }
}

std::string Printer::value_step_text(const LaneStep& step, bool inside) const {
  const Inst& inst = *step.inst;
  if (inst.op == Op::set) return fmt::format("{} = {};", arg(inst, 0), arg(inst, 1));
  std::string text = step.kind == LaneStep::Kind::unpack
                         ? from_memory(buffer(inst).dtype, array_lane(inst, step.part))
                         : value_text(inst);
  const std::string& name = names_[result_of(step)];
  if (!inside) return fmt::format("{} = {};", name, text);
  return fmt::format("{}{} {} = {};", inst.op == Op::var ? "" : "const ",
                     register_name(inst.type.dtype), name, text);
}

}  // namespace fuseline::cuda_c
