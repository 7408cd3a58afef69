// Declaration and checks of the mask options.
#include "cli/mask_options.hpp"

#include <limits>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "cli/parse.hpp"

namespace fuseline::cli {

void MaskGraphOptions::add_to(CLI::App& command) {
  command.add_option("--threshold", threshold, "Pixels with a gray value above N are set (127)")
      ->type_name("N");
  command
      .add_option("--gray,--grey", gray,
                  "Gray formula: bt601_q15 as OpenCV (the default), bt601_q16 as Pillow, bt709")
      ->type_name("MODE");
  command.add_flag("--invert", invert, "Set the pixels that are not above the threshold");
  command.add_flag("--area-only", area_only, "Count the set pixels, make no mask");
  command.add_option("--device", device, "auto (the default), cpu, cuda or cuda:N")
      ->type_name("NAME");
  command.add_option("--fusion", fusion, "off: one kernel for each operation, for comparison (on)")
      ->type_name("on|off");
  command
      .add_option("--threads", threads,
                  "Threads for decoding, kernels and encoding together (all processors)")
      ->type_name("N");
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
  return options;
}

void MaskGraphOptions::apply_threads() const {
  constexpr std::int64_t most = 4096;
  if (threads.empty()) return;
  set_env(EnvVar::num_threads, std::to_string(parse_integer("--threads", threads, 1, most)));
}

void MaskFileOptions::add_to(CLI::App& command) {
  command.add_option("IN", inputs, "Pictures (JPEG, PNG) and folders of pictures");
  command
      .add_option("-o,--output", output,
                  "The mask's file for one picture, else a folder (NAME.mask.png beside each "
                  "picture)")
      ->type_name("OUT");
  command.add_option("--bits", bits, "Bits a pixel of the mask's PNG: 8 (the default) or 1")
      ->type_name("8|1");
  command
      .add_option("--limit-pixels", limit_pixels,
                  "Refuse pictures that declare more pixels (1000000000)")
      ->type_name("N");
  command.add_flag("--account", account,
                   "Measure one picture with fusion off and on, stage by stage");
  command.add_flag("--json", json, "Print the result as JSON");
}

bool MaskFileOptions::one_bit() const { return parse_choice("--bits", bits, {"8", "1"}) == "1"; }

std::int64_t MaskFileOptions::pixel_limit() const {
  return parse_integer("--limit-pixels", limit_pixels, 1, std::numeric_limits<std::int64_t>::max());
}

}  // namespace fuseline::cli
