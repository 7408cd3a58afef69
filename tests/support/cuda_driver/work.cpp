// Kernels of the simulated device, and the doing of work.
#include "support/cuda_driver/work.hpp"

#include <cstdlib>
#include <cstring>
#include <deque>

namespace fuseline::standin {
namespace {

Handles<CUmod_st>& modules() {
  static auto* handles = new Handles<CUmod_st>;
  return *handles;
}

// Kept for good, so that a launch of an unloaded function is seen.
std::deque<CUfunc_st>& functions() {
  static auto* list = new std::deque<CUfunc_st>;
  return *list;
}

bool is_live(std::uint64_t address, std::size_t bytes) {
  return Memory::all().room_at(address) >= static_cast<std::int64_t>(bytes);
}

Result fault(const std::string& what, Result result) {
  misuse("fault: " + what, result);
  return device_fault() = result;
}

// For programs that tests start and cannot describe kernels to: these do nothing then.
bool skips_unknown_kernels() {
  static const bool skips = std::getenv("FUSELINE_STANDIN_SKIP_KERNELS") != nullptr;
  return skips;
}

Result run_kernel(const Work& work) {
  const CUfunc_st& function = *work.function;
  if (function.unloaded) return fault(function.name + " ran unloaded", error_illegal_address);
  for (std::size_t i = 0; i < function.description.pointers; ++i)
    if (!is_live(work.values[i], 1))
      return fault(function.name + " was given an address without memory", error_illegal_address);
  if (!function.description.body) return success;
  const char* why = function.description.body(function.description.user, work.values.data(),
                                              work.blocks, work.threads);
  return why ? fault(function.name + ": " + why, error_launch_failed) : success;
}

// Host memory must not be the device's; device memory must be live.
bool is_end(std::uint64_t address, bool device, std::size_t bytes) {
  return device ? is_live(address, bytes) : address != 0 && !Memory::all().owns(address);
}

}  // namespace

Result perform(const Work& work) {
  if (work.kind == Work::Kind::kernel) return run_kernel(work);
  if (work.kind == Work::Kind::event) return reach(work.event);
  if (!is_end(work.to, work.to_device, work.bytes))
    return fault("a copy to memory that is not there", error_illegal_address);
  auto* to = reinterpret_cast<void*>(work.to);
  if (work.kind == Work::Kind::fill) {
    std::memset(to, work.byte, work.bytes);
    return success;
  }
  if (!is_end(work.from, work.from_device, work.bytes))
    return fault("a copy from memory that is not there", error_illegal_address);
  std::memcpy(to, reinterpret_cast<const void*>(work.from), work.bytes);
  return success;
}

Result kernel_work(Work& work, Function function, unsigned blocks, unsigned threads,
                   void** params) {
  if (!function || function->unloaded) return misuse("a function of no module");
  if (function->description.values == 0 && !skips_unknown_kernels())
    return misuse(function->name + " is not described");
  if (blocks == 0 || threads == 0) return misuse(function->name + ": a launch without blocks");
  Work made;
  made.function = function;
  made.blocks = blocks;
  made.threads = static_cast<int>(threads);
  for (std::size_t i = 0; i < function->description.values; ++i)
    made.values.push_back(*static_cast<const std::uint64_t*>(params[i]));
  work = std::move(made);
  return success;
}

Result copy_work(Work& work, const CopyNode& node) {
  if (node.height != 1 || node.depth != 1 || node.width_bytes == 0)
    return misuse("a copy of another shape than a row");
  Work made;
  made.kind = Work::Kind::copy;
  made.bytes = node.width_bytes;
  auto end = [](const CopyEnd& given, bool& device) {
    device = given.memory_type == memory_device;
    return device ? given.device : reinterpret_cast<std::uint64_t>(given.host);
  };
  made.to = end(node.target, made.to_device);
  made.from = end(node.source, made.from_device);
  work = std::move(made);
  return success;
}

void describe_function(Function function, Description description) {
  function->description = description;
}

// ---- the driver's functions

Result cuModuleLoadData(SimulatedDevice, Module* module, const void* image) {
  if (Result why = usable()) return why;
  if (!image || *static_cast<const char*>(image) == '\0') return error_invalid_value;
  *module = modules().add(new CUmod_st);
  return success;
}

Result cuModuleUnload(SimulatedDevice, Module module) {
  if (Result why = usable()) return why;
  for (CUfunc_st& function : functions())
    if (function.module == module) function.unloaded = true;
  return modules().remove(module) ? success : misuse("a module unloaded twice");
}

Result cuModuleGetFunction(SimulatedDevice, Function* function, Module module, const char* name) {
  if (Result why = usable()) return why;
  if (!modules().has(module)) return misuse("a function asked of no module");
  functions().push_back({module, name, {}});
  *function = &functions().back();
  return success;
}

Result cuFuncGetAttribute(SimulatedDevice, int* value, Attribute which, Function) {
  if (Result why = usable()) return why;
  *value = which == function_registers ? 32 : 0;
  return success;
}

}  // namespace fuseline::standin
