// The steps of a Program as text and JSON.
#include "cli/kernel_text.hpp"

#include <fmt/format.h>

#include "cli/terminal.hpp"

namespace fuseline::cli {

void print_section(std::string_view name, const std::string& text) {
  if (text.empty()) return;
  std::string body = text;
  while (body.ends_with('\n')) body.pop_back();
  print_line(stdout, fmt::format("\n--- {}\n{}", name, body));
}

namespace {

std::string compiled_text(const KernelReport& kernel) {
  std::string text = kernel.cache_hit
                         ? fmt::format("cache hit, loaded in {:.2f} ms", kernel.compile_ms)
                         : fmt::format("compiled in {:.1f} ms", kernel.compile_ms);
  if (kernel.registers) text += fmt::format(", {} registers", *kernel.registers);
  if (kernel.spill_bytes) text += fmt::format(", {} bytes spilled", *kernel.spill_bytes);
  return text;
}

}  // namespace

void print_step(const KernelReport& kernel, bool sources) {
  std::string kind = kernel.is_call ? "library call " : "Region ";
  print_line(stdout, "\n" + colored(stdout, Color::bold, kind + kernel.name));
  if (!kernel.origins.empty())
    print_line(stdout, fmt::format("  nodes       {}", fmt::join(kernel.origins, ", ")));
  print_line(stdout, fmt::format("  operations  {}", fmt::join(kernel.operations, ", ")));
  print_line(stdout, "  plan        " + kernel.plan);
  for (const std::string& reason : kernel.reasons) print_line(stdout, "  border      " + reason);
  if (kernel.is_call) return;
  print_line(stdout, "  code        " + compiled_text(kernel));
  if (!sources) return;
  print_section("Loop IR", kernel.loop_ir);
  print_section("source for this device", kernel.source);
  print_section("CUDA C", kernel.cuda_source);
}

Json step_json(const KernelReport& kernel, bool sources) {
  Json json = {{"name", kernel.name},           {"library_call", kernel.is_call},
               {"nodes", kernel.origins},       {"operations", kernel.operations},
               {"plan", kernel.plan},           {"reasons", kernel.reasons},
               {"cache_hit", kernel.cache_hit}, {"compile_ms", kernel.compile_ms}};
  if (kernel.registers) json["registers"] = *kernel.registers;
  if (kernel.spill_bytes) json["spill_bytes"] = *kernel.spill_bytes;
  if (!sources) return json;
  json["loop_ir"] = kernel.loop_ir;
  json["source"] = kernel.source;
  json["cuda_source"] = kernel.cuda_source;
  return json;
}

}  // namespace fuseline::cli
