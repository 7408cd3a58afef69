// CUDA C from Loop IR: arguments, blocks, and values of one lane.
#include "emit/cuda_c/print.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "emit/cuda_c/prelude.hpp"
#include "emit/cuda_c/printer.hpp"
#include "fuse/loop_ops.hpp"

namespace fuseline {
namespace cuda_c {
namespace {

using loop::Id;
using loop::Inst;
using loop::Op;

// A name from a graph, as a part of an identifier.
std::string letters(const std::string& name) {
  std::string out;
  for (char c : name) {
    bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += fits ? c : '_';
  }
  return out;
}

}  // namespace

std::string Printer::run() {
  signature();
  indent_ = 2;
  block(kernel_.body);
  out_ += "}\n";
  return std::move(out_);
}

std::string Printer::buffer_name(std::size_t i) const {
  return fmt::format("b{}_{}", i, letters(kernel_.buffers[i].name));
}

std::string Printer::param_name(std::size_t i) const {
  return fmt::format("p{}_{}", i, letters(kernel_.params[i].name));
}

void Printer::signature() {
  std::string args, arrays;
  auto add = [&](const std::string& arg) { args += (args.empty() ? "" : ", ") + arg; };
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const loop::Buffer& b = kernel_.buffers[i];
    if (b.space == loop::Space::global) {
      add(fmt::format("{}({}) {}", b.written ? "OUT" : "IN", memory_name(b.dtype), buffer_name(i)));
      continue;
    }
    arrays +=
        fmt::format("  SHARED({}, {}, {});\n", memory_name(b.dtype), buffer_name(i), b.elements);
    bytes += (b.elements * static_cast<std::int64_t>(size_of(b.dtype)) + 15) / 16 * 16;
  }
  require(bytes <= max_shared_bytes, "a kernel needs more shared memory than a block can have");
  for (std::size_t i = 0; i < kernel_.params.size(); ++i)
    add(fmt::format("{} {}", register_name(kernel_.params[i].dtype), param_name(i)));
  std::string head =
      kernel_.resident_blocks > 0
          ? fmt::format("KERNEL_LIMITED({}, {})", kernel_.threads, kernel_.resident_blocks)
          : fmt::format("KERNEL({})", kernel_.threads);
  out_ += fmt::format("{} {}({}) {{\n{}", head, kernel_.name, args, arrays);
}

namespace {

bool touches_global(const loop::Kernel& kernel, const Inst& inst) {
  if (touches_memory(inst.op))
    return kernel.buffers[static_cast<std::size_t>(inst.buffer)].space == loop::Space::global;
  return std::any_of(inst.blocks.begin(), inst.blocks.end(), [&](const loop::Block& block) {
    return std::any_of(block.insts.begin(), block.insts.end(),
                       [&](const Inst& inner) { return touches_global(kernel, inner); });
  });
}

}  // namespace

// Index arithmetic is done while the kernel before still runs.
void Printer::await_inputs(const Inst& inst) {
  if (awaited_ || !touches_global(kernel_, inst)) return;
  flush();
  line("await_inputs();");
  awaited_ = true;
}

void Printer::block(const loop::Block& block) {
  for (const Inst& inst : block.insts) {
    await_inputs(inst);
    instruction(inst);
  }
  flush();
}

void Printer::nested(const loop::Block& inner) {
  indent_ += 2;
  block(inner);
  indent_ -= 2;
}

void Printer::instruction(const Inst& inst) {
  if (loop_.makes(inst)) flush();
  // The open loop's stores come behind it; what may read them cannot go before it.
  bool reads = touches_memory(inst.op) && !writes_memory(inst.op);
  if (reads && buffer(inst).written && !loop_.stores.empty()) flush();
  if (inst.op == Op::load || inst.op == Op::load_group)
    load(inst);
  else if (inst.op == Op::store || inst.op == Op::store_group)
    store(inst);
  else if (inst.op == Op::reduce_lanes || inst.op == Op::count_lanes)
    across(inst);
  else if (inst.op == Op::scatter && inst.type.lanes > 1)
    scatter(inst);
  else if (!lane_value(inst))
    single(inst);
}

void Printer::single(const Inst& inst) {
  auto value = [&](const std::string& text) { define(inst.result, inst.type.dtype, text); };
  switch (inst.op) {
    case Op::param:
      names_[inst.result] = param_name(inst.imm);
      return;
    case Op::block_id:
      return value("block_id()");
    case Op::block_count:
      return value("block_count()");
    case Op::thread_id:
      return value("thread_id()");
    case Op::thread_count:
      return value("thread_count()");
    case Op::set:
      return line("{} = {};", arg(inst, 0), arg(inst, 1));
    case Op::var:
      names_[inst.result] = fmt::format("v{}", inst.result);
      if (facts_.uses[inst.result] == 0) return;
      return line("{} {} = {};", register_name(inst.type.dtype), names_[inst.result], arg(inst, 0));
    case Op::shuffle_down:
      return value(fmt::format("shuffle_down({}, {})", arg(inst, 0), arg(inst, 1)));
    case Op::warp_sum:
      return value(fmt::format("warp_sum({})", arg(inst, 0)));
    case Op::ballot_count:
      return value(fmt::format("ballot_count({})", arg(inst, 0)));
    case Op::barrier:
    case Op::fence:
    case Op::scatter:
    case Op::atomic_add:
    case Op::for_range:
    case Op::if_then:
      flush();
      return effect(inst);
    default:
      return value(value_text(inst));
  }
}

// What must stay in order with the stores.
void Printer::effect(const Inst& inst) {
  switch (inst.op) {
    case Op::barrier:
      return line("barrier();");
    case Op::fence:
      return line("fence();");
    case Op::scatter:
      return line("{} = {};", element(inst), to_memory(buffer(inst).dtype, arg(inst, 1)));
    case Op::atomic_add:
      return atomic_add(inst);
    case Op::for_range:
      return for_range(inst);
    default:
      return if_then(inst);
  }
}

void Printer::atomic_add(const Inst& inst) {
  std::string text = fmt::format("atomic_add({}, {})", address(inst), arg(inst, 1));
  if (facts_.uses[inst.result] == 0) return line("{};", text);
  define(inst.result, inst.type.dtype, text);
}

void Printer::for_range(const Inst& inst) {
  std::string i = names_[inst.result] = fmt::format("v{}", inst.result);
  if (stores_remainder(inst, facts_)) line("#pragma unroll 1");
  line("for ({} {} = {}; {} < {}; {} += {}) {{", register_name(inst.type.dtype), i, arg(inst, 0), i,
       arg(inst, 1), i, arg(inst, 2));
  nested(inst.blocks[0]);
  line("}}");
}

void Printer::if_then(const Inst& inst) {
  line("if ({}) {{", arg(inst, 0));
  nested(inst.blocks[0]);
  if (!inst.blocks[1].insts.empty()) {
    line("}} else {{");
    nested(inst.blocks[1]);
  }
  line("}}");
}

void Printer::define(Id id, DType type, const std::string& text) {
  names_[id] = fmt::format("v{}", id);
  if (facts_.uses[id] > 0) line("const {} {} = {};", register_name(type), names_[id], text);
}

// One lane of a value that is computed or gathered.
std::string Printer::value_text(const Inst& inst) const {
  switch (inst.op) {
    case Op::get:
    case Op::var:
      return arg(inst, 0);
    case Op::gather:
      return from_memory(buffer(inst).dtype, element(inst));
    case Op::ramp: {
      if (inst.type.lanes == 1) return arg(inst, 0);
      std::string lane = fmt::format("({})l", register_name(inst.type.dtype));
      return binary(Intrinsic::add, inst.type.dtype, arg(inst, 0), lane);
    }
    default:
      break;
  }
  std::vector<std::string> args;
  for (Id id : inst.args) args.push_back(names_[id]);
  return expression(inst, args, facts_.types[inst.args.back()].dtype);
}

std::string Printer::address(const Inst& inst) const {
  return fmt::format("{} + {}", buffer_name(static_cast<std::size_t>(inst.buffer)), arg(inst, 0));
}

std::string Printer::element(const Inst& inst) const {
  return fmt::format("{}[{}]", buffer_name(static_cast<std::size_t>(inst.buffer)), arg(inst, 0));
}

}  // namespace cuda_c

std::string print_cuda_body(const loop::Kernel& kernel) { return cuda_c::Printer(kernel).run(); }

std::string print_cuda(const loop::Kernel& kernel) {
  std::string body = print_cuda_body(kernel);
  return cuda_c::device_prelude(body) + "\n" + body;
}

}  // namespace fuseline
