// How long the mask Region takes from graph to machine code, in a process that compiled nothing.
#include <dlfcn.h>

#include <chrono>
#include <fstream>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "bench_case.hpp"
#include "fuseline/program.hpp"
#include "graphs.hpp"
#include "program/device_registry.hpp"

namespace fuseline::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t nanoseconds_since(Clock::time_point begin) {
  return std::chrono::nanoseconds(Clock::now() - begin).count();
}

// Opens the code generator with its LLVM, which otherwise happens at the first compilation.
void open_code_generator() {
  Dl_info library{};
  if (!dladdr(reinterpret_cast<const void*>(&verify), &library) || !library.dli_fname)
    fail_internal("the folder of libfuseline cannot be found");
  std::filesystem::path path = library.dli_fname;
  path.replace_filename("libfuseline_llvm.so");
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) fail_device("{}", dlerror());
}

// A frame so small that its run takes no time: what remains is planning and compiling.
std::int64_t time_first_run(const Graph& graph, std::optional<Program>& program) {
  Tensor frame = Tensor::allocate(DType::u8, {64, 64, 3});
  std::fill_n(frame.as<std::uint8_t>(), frame.bytes(), std::uint8_t{0});
  Tensor mask = Tensor::allocate(DType::u8, {64, 64});
  Tensor area = Tensor::allocate(DType::i64, {});
  auto begin = Clock::now();
  program = compile(graph, {.device = "cpu"});
  program->run({{"frame", frame}}, {{"mask", mask}, {"area", area}});
  return nanoseconds_since(begin);
}

}  // namespace

void print_compile_times(const Arguments& arguments) {
  if (arguments.size() != 3) fail("compile: THRESHOLD FOLDER cold|warm are expected");
  Graph graph = mask_graph(parse_integer(arguments[0], "threshold"));
  auto begin = Clock::now();
  open_device("cpu");
  if (arguments[2] == "cold") open_code_generator();
  std::int64_t open = nanoseconds_since(begin);
  std::optional<Program> program;
  std::int64_t total = time_first_run(graph, program);

  std::vector<KernelReport> kernels = program->report();
  if (kernels.size() != 1) fail("the mask is {} kernels, one is expected", kernels.size());
  const KernelReport& kernel = kernels.front();
  std::ofstream(std::filesystem::path(arguments[1]) / "kernel.cu") << kernel.cuda_source;
  print_json({{"total_ns", total},
              {"open_ns", open},
              {"compile_ms", kernel.compile_ms},
              {"cache_hit", kernel.cache_hit}});
}

}  // namespace fuseline::bench
