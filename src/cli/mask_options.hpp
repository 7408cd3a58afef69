// The options of the mask commands: those of the graph and its compilation, and those of the files.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fuseline/mask.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {

// As typed; `settings()` and `compile_options()` check them.
struct MaskGraphOptions {
  std::string threshold = "127";
  std::string gray = "bt601_q15";
  std::string device = "auto";
  std::string fusion = "on";
  std::string record = "auto";
  std::string threads;
  bool invert = false;
  bool area_only = false;

  void add_to(CLI::App& command);
  MaskSettings settings() const;
  CompileOptions compile_options() const;
  // Sets the thread budget of the process, which is read when the device is opened.
  void apply_threads() const;
};

struct MaskFileOptions {
  std::vector<std::string> inputs;
  std::string bits = "8";
  std::string limit_pixels = "1000000000";
  std::string output;  // empty: beside the picture
  bool account = false;
  bool json = false;

  void add_to(CLI::App& command);
  bool one_bit() const;
  std::int64_t pixel_limit() const;
};

}  // namespace fuseline::cli
