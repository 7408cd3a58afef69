// From Loop IR to a callable kernel: table of the process, cache on disk, code generator.
#include "device/cpu/kernel_table.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/log.hpp"
#include "cache/entry.hpp"
#include "cache/store.hpp"
#include "device/cpu/codegen_library.hpp"
#include "device/cpu/host.hpp"
#include "device/cpu/math_symbols.hpp"

namespace fuseline::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<std::byte> to_bytes(const std::string& text) {
  auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

// LLVM's names for this processor, three lines: asked of LLVM once and kept in the cache, so that
// a start that finds all kernels there does not load LLVM.
emit::CpuTraits read_traits() {
  cache::Key key{
      fmt::format("fuseline-cpu-traits 1\n{}\n{}", codegen_identity(), processor_identity())};
  cache::Result result = cache::Store::user().get_or_make(key, [] {
    emit::HostProcessor host = codegen().host();
    return to_bytes(host.triple + "\n" + host.cpu + "\n" + host.features);
  });
  std::string text(reinterpret_cast<const char*>(result.payload.data()), result.payload.size());
  std::size_t first = text.find('\n'), second = text.find('\n', first + 1);
  emit::CpuTraits traits;
  traits.triple = text.substr(0, first);
  traits.cpu = text.substr(first + 1, second - first - 1);
  traits.features = text.substr(second + 1);
  traits.resolve = resolve_symbol;
  return traits;
}

// Made now, so that LLVM is loaded: ORC links it. From the cache: placed without LLVM if possible.
void make_callable(CpuKernel& kernel, const std::vector<std::byte>& object,
                   const std::string& symbol) {
  auto start = Clock::now();
  if (kernel.record.cache_hit) {
    std::string reason;
    kernel.image = ObjectImage::load(object, symbol, resolve_symbol, reason);
    if (kernel.image)
      kernel.function = reinterpret_cast<emit::KernelFunction*>(kernel.image->entry());
    else
      log_info("{} is linked by ORC: {}", kernel.record.name, reason);
  }
  if (!kernel.function) kernel.function = codegen().link(object, symbol);
  kernel.record.load_ms += milliseconds_since(start);
}

}  // namespace

const emit::CpuTraits& KernelTable::traits() {
  std::call_once(traits_once_, [&] { traits_ = read_traits(); });
  return traits_;
}

std::string KernelTable::key_text(const std::string& kernel_text) {
  const emit::CpuTraits& cpu = traits();
  return fmt::format("fuseline-cpu-object 1\n{}\n{}\n{}\n{}\n{}\n{}", codegen_identity(),
                     cpu.triple, cpu.cpu, cpu.features, math_library_identity(), kernel_text);
}

std::shared_ptr<const CpuKernel> KernelTable::get(const loop::Kernel& kernel) {
  std::string text = loop::to_text(kernel);
  std::promise<std::shared_ptr<const CpuKernel>> promise;
  Future future;
  bool mine = false;
  {
    std::lock_guard lock(mutex_);
    auto [entry, added] = kernels_.try_emplace(text);
    if (added) entry->second = promise.get_future().share();
    future = entry->second;
    mine = added;
  }
  if (!mine) return future.get();
  try {
    promise.set_value(make(kernel, text));
  } catch (...) {
    // Those who wait get the error; the next call tries again.
    promise.set_exception(std::current_exception());
    std::lock_guard lock(mutex_);
    kernels_.erase(text);
  }
  return future.get();
}

std::shared_ptr<const CpuKernel> KernelTable::make(const loop::Kernel& kernel,
                                                   const std::string& text) {
  auto made = std::make_shared<CpuKernel>();
  made->record.name = kernel.name;
  cache::Key key{key_text(text)};
  std::string symbol = kernel.name + "_" + cache::entry_name(key.text);
  auto start = Clock::now();
  cache::Result result = cache::Store::user().get_or_make(key, [&] {
    loop::verify(kernel);
    emit::CompiledObject compiled = codegen().compile(kernel, symbol, traits());
    log_debug("{}: {:.1f} ms to LLVM IR, {:.1f} in passes, {:.1f} to machine code", kernel.name,
              compiled.generate_ms, compiled.optimize_ms, compiled.assemble_ms);
    made->record.generate_ms = compiled.generate_ms;
    made->record.compile_ms = compiled.optimize_ms + compiled.assemble_ms;
    return std::move(compiled.object);
  });
  made->record.cache_hit = result.hit;
  if (result.hit) made->record.load_ms = milliseconds_since(start);
  make_callable(*made, result.payload, symbol);
  return made;
}

std::string KernelTable::source_of(const loop::Kernel& kernel) {
  return codegen().text(kernel, traits());
}

}  // namespace fuseline::cpu
