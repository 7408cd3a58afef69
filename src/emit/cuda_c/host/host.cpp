// Host sources, and runs of compiled kernels.
#include "emit/cuda_c/host/host.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "base/fail.hpp"
#include "emit/cuda_c/host/block.hpp"
#include "emit/cuda_c/host/compiler.hpp"
#include "emit/cuda_c/print.hpp"

namespace fuseline::host {
namespace {

constexpr const char prelude_text[] =
#include "emit/cuda_c/host/prelude.inc"
    ;

// Each kernel in its own namespace: names may repeat.
std::string host_text(const std::vector<Source>& sources) {
  std::string text = std::string(interface_text) + "\n" + prelude_text;
  std::string table;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text += fmt::format("namespace k{} {{\n#line 1 \"{}\"\n{}\n}}\n", i, sources[i].name,
                        sources[i].body);
    table += fmt::format("  ENTRY(k{}::{})\n", i, sources[i].name);
  }
  return text +
         "extern \"C\" __attribute__((visibility(\"default\"))) const Entry "
         "fuseline_entries[] = {\n" +
         table + "};\n";
}

// One for all kernels of a thread: its stacks are many mappings.
BlockRunner& thread_runner() {
  thread_local BlockRunner runner;
  return runner;
}

}  // namespace

struct Kernels::State {
  std::vector<Source> sources;
  SharedObject object;
  const Entry* entries = nullptr;
  void (*set_host)(Host*) = nullptr;
  std::mutex mutex;  // guards what set_host sets
};

std::string compiler_missing() {
  return compiler_name().empty() ? "no C++ compiler (g++, c++, clang++) is in PATH" : "";
}

Source source_of(const loop::Kernel& kernel) {
  Source source{kernel.name, print_cuda_body(kernel), kernel.threads, {}};
  for (const loop::Buffer& b : kernel.buffers)
    if (b.space == loop::Space::global) source.buffers.push_back(b.name);
  return source;
}

Kernels::Kernels(std::vector<Source> sources, CompileOptions options)
    : state_(std::make_unique<State>()) {
  state_->sources = std::move(sources);
  std::vector<std::string> flags;
  if (options.undefined_behavior)
    flags = {"-fsanitize=undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"};
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  std::string rejection = compile_and_open(state_->object, host_text(state_->sources), flags);
  if (!rejection.empty() && options.text_of_user) fail("{}", rejection);
  if (!rejection.empty()) fail_internal(rejection);
  state_->entries = static_cast<const Entry*>(state_->object.symbol("fuseline_entries"));
  state_->set_host = reinterpret_cast<void (*)(Host*)>(state_->object.symbol("fuseline_set_host"));
}

Kernels::~Kernels() = default;
Kernels::Kernels(Kernels&&) noexcept = default;
Kernels& Kernels::operator=(Kernels&&) noexcept = default;

std::string Kernels::run(std::size_t kernel, std::span<const Span> buffers,
                         std::span<const std::uint64_t> params, std::int64_t blocks,
                         std::uint64_t seed, int threads) const {
  const Source& source = state_->sources.at(kernel);
  if (threads == 0) threads = source.threads;
  require(threads <= source.threads, "a block of more threads than the kernel is made for");
  const Entry& entry = state_->entries[kernel];
  require(entry.memory_count == static_cast<int>(buffers.size()) &&
              source.buffers.size() == buffers.size() &&
              entry.param_count == static_cast<int>(params.size()),
          "a host kernel was given another number of arguments than it takes");
  std::vector<Memory> memory;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    memory.push_back({buffers[i].data, buffers[i].elements, source.buffers[i].c_str()});
  std::vector<std::int64_t> block_order(static_cast<std::size_t>(blocks));
  std::iota(block_order.begin(), block_order.end(), 0);
  Order order(seed);
  if (!order.natural())
    for (std::size_t i = block_order.size(); i > 1; --i)
      std::swap(block_order[i - 1], block_order[order.below(i)]);
  BlockRunner& runner = thread_runner();
  std::lock_guard lock(state_->mutex);
  state_->set_host(&runner.host());
  runner.host().blocks = blocks;
  runner.host().threads = threads;
  for (std::int64_t block : block_order) {
    runner.host().block = block;
    std::string fault = runner.run(entry, memory.data(), params.data(), threads, order);
    if (!fault.empty()) return fmt::format("{}: {}", source.name, fault);
  }
  return {};
}

}  // namespace fuseline::host
