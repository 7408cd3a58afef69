// Program::save and load_program.
#include <cstring>
#include <fstream>

#include "base/fail.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"
#include "program/saved_program.hpp"

namespace fuseline {
namespace {

std::string kind_name(DeviceKind kind) { return kind == DeviceKind::cuda ? "cuda" : "cpu"; }

}  // namespace

void Program::save(const std::string& path, const SavedNotes& notes) const {
  write_saved(path, {kind_name(impl_->device.target().kind), impl_->options, impl_->graph, notes});
}

bool is_saved_program(const std::string& path) {
  char start[8] = {};
  std::ifstream in(path, std::ios::binary);
  return in.read(start, sizeof start) && std::memcmp(start, "FUSEPROG", sizeof start) == 0;
}

Program load_program(const std::string& path, const CompileOptions& options, SavedNotes* notes) {
  SavedProgram saved = read_saved(path);
  Device& device = open_device(options.device == "auto" ? saved.device : options.device);
  if (kind_name(device.target().kind) != saved.device)
    fail("{}: compiled for {}, not for {}; compile the model again", path, saved.device,
         kind_name(device.target().kind));
  CompileOptions chosen = options;
  chosen.parity = saved.options.parity;
  chosen.precision = saved.options.precision;
  chosen.keep_fp32 = saved.options.keep_fp32;
  chosen.disabled_passes = saved.options.disabled_passes;
  if (notes) *notes = std::move(saved.notes);
  return compile_on(device, saved.graph, chosen, {}, true);
}

}  // namespace fuseline
