// The dump of Loop IR: complete (it is the key of the caches), deterministic and readable.
#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "fuse/loop_ir.hpp"
#include "fuse/loop_ops.hpp"

namespace fuseline::loop {
namespace {

// Names come from graphs; a quote or a newline in one must not read like another kernel.
std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (unsigned char c : name) {
    if (c == '"' || c == '\\' || c < 0x20 || c == 0x7f)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", c);
    else
      out += static_cast<char>(c);
  }
  return out + '"';
}

std::string type_text(Type type) {
  std::string text(name_of(type.dtype));
  if (type.lanes != 1) text += fmt::format("x{}", type.lanes);
  return text;
}

std::string id_text(Id id) { return id == no_id ? std::string("%-") : fmt::format("%{}", id); }

std::string memory_type(std::uint64_t imm) {
  return imm < dtype_count ? std::string(name_of(static_cast<DType>(imm))) : fmt::format("{}", imm);
}

std::string constant_text(const Inst& inst) {
  std::string bits = fmt::format("{:#x}", inst.imm);
  switch (inst.type.dtype) {
    case DType::f32:
      return bits +
             fmt::format(" ({})", std::bit_cast<float>(static_cast<std::uint32_t>(inst.imm)));
    case DType::f64:
      return bits + fmt::format(" ({})", std::bit_cast<double>(inst.imm));
    default:
      return bits;
  }
}

class Writer {
 public:
  std::string kernel(const Kernel& kernel) {
    put("kernel {} threads {} values {}\n", quoted(kernel.name), kernel.threads, kernel.values);
    if (kernel.resident_blocks > 0) put("resident blocks {}\n", kernel.resident_blocks);
    for (const Buffer& b : kernel.buffers) {
      put("buffer {} {}", quoted(b.name), name_of(b.dtype));
      if (b.space == Space::shared) put(" shared[{}]", b.elements);
      put("{}\n", b.written ? " written" : "");
    }
    for (const Param& p : kernel.params) put("param {} {}\n", quoted(p.name), name_of(p.dtype));
    block(kernel.body);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void block(const Block& block) {
    depth_ += 2;
    for (const Inst& inst : block.insts) {
      put("{:{}}", "", depth_);
      instruction(inst);
    }
    depth_ -= 2;
  }

  void instruction(const Inst& inst) {
    if (inst.result != no_id) put("{}", id_text(inst.result));
    if (inst.op == Op::load_group) put("..{}", id_text(inst.result + Id(inst.channels) - 1));
    put("{}{}", inst.result != no_id ? " = " : "", op_name(inst.op));
    if (has_type(inst.op)) put(" {}", type_text(inst.type));
    extras(inst);
    for (Id arg : inst.args) put(" {}", id_text(arg));
    put("\n");
    for (std::size_t i = 0; i < inst.blocks.size(); ++i) {
      if (i == 1) put("{:{}}else\n", "", depth_);
      block(inst.blocks[i]);
    }
  }

  void extras(const Inst& inst) {
    switch (inst.op) {
      case Op::constant:
        put(" {}", constant_text(inst));
        break;
      case Op::param:
        put(" {}", inst.imm);
        break;
      case Op::compute:
      case Op::reduce_lanes:
        put(" {}", info(inst.fn).name);
        break;
      case Op::cast:
        put("{}", inst.mode == CastMode::saturate ? " saturate" : "");
        break;
      case Op::round_to:
        put(" via {}", memory_type(inst.imm));
        break;
      default:
        break;
    }
    if (!touches_memory(inst.op)) return;
    put(" buffer {}", inst.buffer);
    if (inst.channels != 1) put(" channels {}", inst.channels);
    if (inst.align != 0) put(" align {}", inst.align);
    if (inst.streaming) put(" streaming");
  }

  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string to_text(const Kernel& kernel) { return Writer().kernel(kernel); }

}  // namespace fuseline::loop
