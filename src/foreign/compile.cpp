// NVRTC on a foreign kernel.
#include "foreign/compile.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include "base/fail.hpp"
#include "device/cuda/nvrtc.hpp"
#include "emit/cuda_c/print.hpp"

namespace fuseline::foreign {
namespace {

std::string architecture_for(int sm) {
  if (auto known = cuda::nvrtc_architecture_for(sm)) return *known;
  fail("sm_{}: NVRTC {} compiles for sm_{} and newer", sm, cuda::nvrtc_version(),
       cuda::nvrtc_architectures().front());
}

std::optional<int> number_in(const std::string& text, const char* expression) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(expression))) return std::nullopt;
  return std::stoi(found[1]);
}

// The assembler's figures stand between the warnings; what is about this kernel is kept apart.
void read_log(Compiled& compiled, const std::string& log, const std::string& kernel) {
  std::istringstream lines(log);
  bool about_kernel = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("ptxas")) {
      compiled.warnings += line + "\n";
      continue;
    }
    if (line.find("Compiling entry function") != line.npos ||
        line.find("Function properties for") != line.npos)
      about_kernel = std::regex_search(line, std::regex("[ ']" + kernel + "('|$|\\s)"));
    if (line.find("warning") != line.npos) compiled.warnings += line + "\n";
    if (!about_kernel) continue;
    if (auto spills = number_in(line, "(\\d+) bytes spill stores")) compiled.spill_bytes = spills;
    if (auto registers = number_in(line, "Used (\\d+) registers")) {
      compiled.registers = registers;
      compiled.shared_bytes = number_in(line, "(\\d+) bytes smem").value_or(0);
    }
  }
  while (compiled.warnings.ends_with('\n')) compiled.warnings.pop_back();
}

struct Limits {
  int sm, threads, blocks, shared;
};
constexpr std::array<Limits, 10> limits = {{{75, 1024, 16, 65536},
                                            {80, 2048, 32, 167936},
                                            {86, 1536, 16, 102400},
                                            {87, 1536, 16, 167936},
                                            {89, 1536, 24, 102400},
                                            {90, 2048, 32, 233472},
                                            {100, 2048, 32, 233472},
                                            {103, 2048, 32, 233472},
                                            {120, 1536, 24, 102400},
                                            {121, 1536, 24, 102400}}};

}  // namespace

std::optional<Occupancy> occupancy_of(int sm, int threads, int registers, int shared_bytes) {
  auto of_sm =
      std::find_if(limits.begin(), limits.end(), [&](const Limits& l) { return l.sm == sm; });
  if (of_sm == limits.end() || threads <= 0) return std::nullopt;
  constexpr int all_registers = 65536, warp = 32, register_unit = 256, shared_unit = 128;
  constexpr int shared_of_system = 1024;
  int warps = (threads + warp - 1) / warp;
  int warp_registers = (registers * warp + register_unit - 1) / register_unit * register_unit;
  int by_registers =
      warp_registers ? all_registers / warp_registers / 4 * 4 / warps : of_sm->blocks;
  int system = sm >= 80 ? shared_of_system : 0;
  int shared = (shared_bytes + system + shared_unit - 1) / shared_unit * shared_unit;
  int by_shared = shared ? of_sm->shared / shared : of_sm->blocks;
  int by_threads = of_sm->threads / (warps * warp);
  Occupancy result;
  result.blocks = std::min({by_registers, by_shared, by_threads, of_sm->blocks});
  result.share = static_cast<double>(result.blocks * warps * warp) / of_sm->threads;
  result.limit = result.blocks == by_threads     ? "threads"
                 : result.blocks == by_registers ? "registers"
                 : result.blocks == by_shared    ? "shared memory"
                                                 : "blocks";
  return result;
}

Compiled compile_foreign(const std::string& text, const std::string& file, const Contract& contract,
                         const LaunchWish& wish, int sm) {
  Compiled compiled;
  compiled.architecture = fmt::format("sm_{}", sm);
  compiled.missing = cuda::nvrtc_missing();
  if (!compiled.missing.empty()) return compiled;
  compiled.architecture = architecture_for(sm);
  std::vector<const char*> options(std::begin(nvrtc_options), std::end(nvrtc_options));
  bool is_ptx = compiled.architecture.starts_with("compute");
  if (!is_ptx) options.push_back("--ptxas-options=-v");
  cuda::CompileResult result = cuda::try_compile_cuda(framed(text, file, contract), contract.kernel,
                                                      compiled.architecture, options);
  if (result.rejected) {
    compiled.rejection = result.log;
    return compiled;
  }
  compiled.ms = result.ms;
  compiled.image = std::move(result.code);
  read_log(compiled, result.log, contract.kernel);
  std::string symbol = is_ptx ? ".entry " + contract.kernel + "("
                              : ".text." + contract.kernel + std::string(1, '\0');
  if (compiled.image.find(symbol) == std::string::npos)
    compiled.rejection =
        fmt::format("{} is not exported under its name; declare it extern \"C\" __global__ void",
                    contract.kernel);
  if (compiled.registers)
    compiled.occupancy =
        occupancy_of(sm, wish.threads(), *compiled.registers, compiled.shared_bytes.value_or(0));
  return compiled;
}

}  // namespace fuseline::foreign
