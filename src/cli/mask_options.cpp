// Declaration and checks of the mask options.
#include "cli/mask_options.hpp"

#include <limits>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "cli/parse.hpp"

namespace fuseline::cli {

void MaskGraphOptions::add_to(CLI::App& command) {
  auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    command.add_option(name, value, help)->type_name(type);
  };
  add("--threshold", threshold, "N", "Set the pixels with a gray value above N (127)");
  add("--gray,--grey", gray, "MODE", "bt601_q15: OpenCV (default), bt601_q16: Pillow, bt709");
  command.add_flag("--invert", invert, "Set the pixels that are not above the threshold");
  command.add_flag("--area-only", area_only, "Count the set pixels, make no mask");
  add("--device", device, "NAME", "auto (the default), cpu, cuda or cuda:N");
  add("--fusion", fusion, "on|off", "off: one kernel for each operation, to compare (on)");
  add("--record", record, "MODE", "CUDA graphs: auto (from the 2nd frame on), on or off");
  add("--threads", threads, "N", "Threads for decoding, kernels and encoding together");
}

MaskSettings MaskGraphOptions::settings() const {
  MaskSettings settings;
  settings.threshold = static_cast<int>(parse_integer("--threshold", threshold, 0, 255));
  settings.gray =
      gray_mode_named(parse_choice("--gray", gray, {"bt601_q15", "bt601_q16", "bt709"}));
  settings.invert = invert;
  settings.with_mask = !area_only;
  return settings;
}

CompileOptions MaskGraphOptions::compile_options() const {
  CompileOptions options;
  options.device = device;
  if (!device.starts_with("cuda:")) parse_choice("--device", device, {"auto", "cpu", "cuda"});
  options.fusion = parse_choice("--fusion", fusion, {"on", "off"}) == "on";
  std::string when = parse_choice("--record", record, {"auto", "on", "off"});
  options.record = when == "on" ? Record::on : when == "off" ? Record::off : Record::automatic;
  return options;
}

void MaskGraphOptions::apply_threads() const {
  constexpr std::int64_t most = 4096;
  if (threads.empty()) return;
  set_env(EnvVar::num_threads, std::to_string(parse_integer("--threads", threads, 1, most)));
}

void MaskFileOptions::add_to(CLI::App& command) {
  command.add_option("IN", inputs, "Pictures (JPEG, PNG) and folders of pictures");
  auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    command.add_option(name, value, help)->type_name(type);
  };
  add("-o,--output", output, "OUT", "File of the mask; a folder for several pictures");
  add("--bits", bits, "8|1", "Bits a pixel of the mask's PNG: 8 (the default) or 1");
  add("--limit-pixels", limit_pixels, "N", "Refuse pictures that declare more (1000000000)");
  command.add_flag("--account", account, "Measure one picture, fusion off and on, by stage");
  command.add_flag("--json", json, "Print the result as JSON");
}

bool MaskFileOptions::one_bit() const { return parse_choice("--bits", bits, {"8", "1"}) == "1"; }

std::int64_t MaskFileOptions::pixel_limit() const {
  return parse_integer("--limit-pixels", limit_pixels, 1, std::numeric_limits<std::int64_t>::max());
}

}  // namespace fuseline::cli
