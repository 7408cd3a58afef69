// Program::save and load_program.
#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/fail.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"
#include "program/saved_program.hpp"

namespace fuseline {
namespace {

std::string kind_name(DeviceKind kind) { return kind == DeviceKind::cuda ? "cuda" : "cpu"; }

bool has_blocks(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return node.attributes.has("x_block") || node.attributes.has("y_block");
  });
}

}  // namespace

void Program::save(const std::string& path, const SavedNotes& notes) const {
  const Target& target = impl_->device.target();
  write_saved(path, {kind_name(target.kind), has_blocks(impl_->graph) ? target.channel_block : 0,
                     impl_->options, impl_->graph, notes});
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
  if (saved.channel_block != 0 && saved.channel_block != device.target().channel_block)
    fail(
        "{}: compiled for a processor whose convolutions take blocks of {} channels, this one's "
        "take {}; compile the model again",
        path, saved.channel_block, device.target().channel_block);
  CompileOptions chosen = options;
  chosen.parity = saved.options.parity;
  chosen.precision = saved.options.precision;
  chosen.keep_fp32 = saved.options.keep_fp32;
  chosen.disabled_passes = saved.options.disabled_passes;
  if (notes) *notes = std::move(saved.notes);
  return compile_on(device, saved.graph, chosen, {}, true);
}

}  // namespace fuseline
