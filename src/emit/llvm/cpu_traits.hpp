// CpuTraits: what code generation knows of the processor and of the functions it may call.
#pragma once

#include <string>
#include <string_view>

namespace fuseline::emit {

// The address of a mathematical function of the process, or nullptr.
using ResolveSymbol = void* (*)(const char* name);

struct CpuTraits {
  std::string triple;
  std::string cpu;       // as LLVM names it: "znver3"
  std::string features;  // as LLVM writes it: "+avx2,+fma,-avx512f"
  ResolveSymbol resolve = nullptr;

  bool has(std::string_view feature) const {
    std::string_view list = features;
    for (std::size_t at = list.find(feature); at != list.npos; at = list.find(feature, at + 1)) {
      std::size_t end = at + feature.size();
      bool whole = end == list.size() || list[end] == ',';
      if (whole && at > 0 && list[at - 1] == '+') return true;
    }
    return false;
  }
  bool x86() const { return triple.starts_with("x86_64"); }
  // The widest register in bytes.
  int vector_bytes() const {
    if (has("avx512bw") && has("avx512vl") && has("avx512dq")) return 64;
    return has("avx2") ? 32 : 16;
  }
};

}  // namespace fuseline::emit
