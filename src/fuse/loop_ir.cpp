// The verifier of Loop IR: every rule that loop_ir.hpp states and that can be decided.
#include "fuse/loop_ir.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "base/fail.hpp"
#include "fuse/loop_ops.hpp"
#include "fuse/loop_spread.hpp"
#include "fuse/loop_types.hpp"

namespace fuseline::loop {
namespace {

bool is_identifier(const std::string& name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  for (char c : name)
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  return true;
}

bool is_register_type(DType t) { return t != DType::f16 && t != DType::bf16; }
bool is_index(Type t) { return t.dtype == DType::i32 || t.dtype == DType::i64; }

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel), slots_(kernel.values) {}

  void run() {
    header();
    block(kernel_.body);
    if (std::string what = divergence_fault(kernel_); !what.empty()) broken(what);
  }

 private:
  enum class State : std::uint8_t { undefined, live, ended };
  struct Slot {
    Type type;
    State state = State::undefined;
    bool variable = false;
    bool is_constant = false;
    std::uint64_t bits = 0;
  };

  [[noreturn]] void broken(const std::string& what) const {
    std::string where = current_ ? fmt::format(" in {}", op_name(current_->op)) : std::string();
    if (current_ && current_->result != no_id) where += fmt::format(" %{}", current_->result);
    fail_internal(fmt::format("Loop IR: {}{}\n{}", what, where, to_text(kernel_)));
  }
  void check(bool holds, const char* rule) const {
    if (!holds) broken(rule);
  }

  void header() const {
    check(is_identifier(kernel_.name), "the kernel's name must be a C identifier");
    int threads = kernel_.threads;
    check(threads == 1 || (threads > 0 && threads % 32 == 0 && threads <= 1024),
          "threads must be 1 or a multiple of 32 up to 1024");
    for (const Buffer& b : kernel_.buffers) {
      if (b.space != Space::shared) continue;
      check(threads > 1, "shared memory needs more than one thread");
      check(b.elements > 0 && b.elements <= (1 << 20), "a shared array needs a size");
    }
    for (const Param& p : kernel_.params)
      check(is_register_type(p.dtype), "parameters are never f16 or bf16");
  }

  void block(const Block& block) {
    std::size_t outer = scope_.size();
    for (const Inst& inst : block.insts) {
      current_ = &inst;
      instruction(inst);
    }
    for (; scope_.size() > outer; scope_.pop_back()) slots_[scope_.back()].state = State::ended;
  }

  void define(Id id, Type type) {
    check(id < kernel_.values, "a result lies beyond Kernel::values");
    check(slots_[id].state == State::undefined, "a value is defined twice");
    slots_[id] = {type, State::live};
    scope_.push_back(id);
  }

  const Slot& slot(Id id) const {
    check(id < kernel_.values, "an operand does not exist");
    check(slots_[id].state == State::live, "an operand is used outside its scope");
    return slots_[id];
  }
  Type value(const Inst& inst, std::size_t i) const {
    const Slot& s = slot(inst.args[i]);
    check(!s.variable, "a variable is used without get");
    return s.type;
  }
  Type variable(const Inst& inst) const {
    const Slot& s = slot(inst.args[0]);
    check(s.variable, "get and set need a variable");
    return s.type;
  }
  void arguments(const Inst& inst, std::size_t count) const {
    check(inst.args.size() == count, "wrong number of operands");
  }

  void instruction(const Inst& inst) {
    if (has_type(inst.op)) {
      check(inst.type.lanes >= 1 && inst.type.lanes <= 1024, "lanes must be 1 to 1024");
      check(is_register_type(inst.type.dtype), "f16 and bf16 exist in memory only");
    }
    check((inst.result != no_id) == has_result(inst.op), "a result is missing or must not be");
    check(inst.blocks.size() == nested_blocks(inst.op), "wrong number of nested blocks");
    if (touches_memory(inst.op))
      memory(inst);
    else if (inst.op == Op::var || inst.op == Op::get || inst.op == Op::set)
      mutable_value(inst);
    else if (inst.op == Op::for_range || inst.op == Op::if_then)
      control(inst);
    else if (inst.op >= Op::barrier)
      threads(inst);
    else if (inst.op <= Op::thread_count)
      source(inst);
    else
      arithmetic(inst);
    if (inst.result != no_id && inst.op != Op::for_range)
      for (int c = 0; c < (inst.op == Op::load_group ? inst.channels : 1); ++c)
        define(inst.result + static_cast<Id>(c), inst.type);
    if (inst.op == Op::var) slots_[inst.result].variable = true;
    if (inst.op == Op::constant) {
      slots_[inst.result].is_constant = true;
      slots_[inst.result].bits = inst.imm;
    }
  }

  static std::size_t nested_blocks(Op op) {
    return op == Op::for_range ? 1 : op == Op::if_then ? 2 : 0;
  }

  void source(const Inst& inst) const {
    arguments(inst, 0);
    Type t = inst.type;
    switch (inst.op) {
      case Op::constant: {
        std::size_t width = 8 * size_of(t.dtype);
        check(width == 64 || inst.imm >> width == 0, "a constant must be zero-extended");
        check(!is_bool(t.dtype) || inst.imm <= 1, "a bool constant is 0 or 1");
        break;
      }
      case Op::param:
        check(inst.imm < kernel_.params.size(), "no such parameter");
        check(t == Type{kernel_.params[inst.imm].dtype, 1}, "the parameter has another type");
        break;
      case Op::thread_id:
      case Op::thread_count:
        check(t == Type{DType::i32, 1}, "thread_id and thread_count are i32");
        break;
      default:
        check(t == Type{DType::i64, 1}, "block_id and block_count are i64");
    }
  }

  void arithmetic(const Inst& inst) const {
    std::vector<Type> operands;
    for (std::size_t i = 0; i < inst.args.size(); ++i) operands.push_back(value(inst, i));
    if (const char* rule = type_fault(inst, operands)) broken(rule);
  }

  void memory(const Inst& inst) const {
    check(inst.buffer >= 0 && inst.buffer < static_cast<int>(kernel_.buffers.size()),
          "no such buffer");
    const Buffer& b = kernel_.buffers[static_cast<std::size_t>(inst.buffer)];
    check(inst.type.dtype == register_type(b.dtype), "the buffer has another element type");
    check(!writes_memory(inst.op) || b.written, "a write to a buffer that is not marked written");
    check(!inst.streaming || b.space == Space::global, "streaming is for global memory");
    check(inst.align == 0 || (std::has_single_bit(static_cast<unsigned>(inst.align)) &&
                              inst.align >= static_cast<int>(size_of(b.dtype))),
          "an alignment is a power of two and holds an element");
    check(inst.channels == 1 || inst.op == Op::load_group || inst.op == Op::store_group,
          "channels are for groups");
    check(inst.channels >= 1 && inst.channels <= 256, "channels must be 1 to 256");
    check(!inst.args.empty(), "an access needs an index");
    Type index = value(inst, 0);
    bool lanewise = inst.op == Op::gather || inst.op == Op::scatter;
    check(is_index(index) && index.lanes == (lanewise ? inst.type.lanes : 1),
          "an index is i32 or i64, one lane (gather and scatter: one for each lane)");
    std::size_t values = 0;
    if (writes_memory(inst.op))
      values = inst.op == Op::store_group ? static_cast<std::size_t>(inst.channels) : 1;
    arguments(inst, 1 + values);
    for (std::size_t i = 1; i <= values; ++i)
      check(value(inst, i) == inst.type, "a stored value has the instruction's type");
    if (inst.op == Op::atomic_add)
      check(inst.type.lanes == 1 &&
                (b.dtype == DType::i32 || b.dtype == DType::u32 || b.dtype == DType::u64),
            "atomic_add takes one lane of i32, u32 or u64");
  }

  void mutable_value(const Inst& inst) const {
    arguments(inst, inst.op == Op::set ? 2 : 1);
    if (inst.op == Op::var) {
      check(value(inst, 0) == inst.type, "a variable has the type of its initial value");
      return;
    }
    check(variable(inst) == inst.type, "get and set have the variable's type");
    if (inst.op == Op::set) check(value(inst, 1) == inst.type, "set needs the variable's type");
  }

  void control(const Inst& inst) {
    if (inst.op == Op::if_then) {
      arguments(inst, 1);
      check(value(inst, 0) == Type{DType::bool_, 1}, "a condition is one bool");
      for (const Block& b : inst.blocks) block(b);
      return;
    }
    arguments(inst, 3);
    check(is_index(inst.type) && inst.type.lanes == 1, "a loop counts in i32 or i64");
    for (std::size_t i = 0; i < 3; ++i)
      check(value(inst, i) == inst.type, "the bounds of a loop have the counter's type");
    const Slot& step = slot(inst.args[2]);
    if (step.is_constant) {
      std::uint64_t sign = std::uint64_t{1} << (8 * size_of(inst.type.dtype) - 1);
      check(step.bits != 0 && step.bits < sign, "a loop's step is positive");
    }
    std::size_t outer = scope_.size();
    define(inst.result, inst.type);
    block(inst.blocks[0]);
    for (; scope_.size() > outer; scope_.pop_back()) slots_[scope_.back()].state = State::ended;
  }

  void threads(const Inst& inst) const {
    if (inst.op != Op::fence)
      check(kernel_.threads > 1, "barriers, shuffles and ballots need more than one thread");
    switch (inst.op) {
      case Op::shuffle_down:
        arguments(inst, 2);
        check(value(inst, 0) == inst.type, "a shuffle keeps the type");
        check(value(inst, 1) == Type{DType::i32, 1}, "a shuffle distance is one i32");
        break;
      case Op::ballot_count:
        arguments(inst, 1);
        check(value(inst, 0) == Type{DType::bool_, 1} && inst.type == Type{DType::i32, 1},
              "ballot_count: one bool to i32");
        break;
      case Op::warp_sum:
        arguments(inst, 1);
        check(value(inst, 0) == inst.type && inst.type == Type{DType::i32, 1},
              "warp_sum: one i32 to i32");
        break;
      default:
        arguments(inst, 0);
    }
  }

  const Kernel& kernel_;
  std::vector<Slot> slots_;
  std::vector<Id> scope_;
  const Inst* current_ = nullptr;
};

}  // namespace

void verify(const Kernel& kernel) {
  require(kernel.values < (Id{1} << 24), "a kernel of more than 16 million values");
  Verifier(kernel).run();
}

}  // namespace fuseline::loop
