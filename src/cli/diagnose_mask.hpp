// The mask command as an object of experiments: what it was asked, and the commands to try instead.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/mask_batch.hpp"
#include "cli/mask_options.hpp"

namespace fuseline::cli {

// `mask PICTURE` with its options.
struct MaskCommand {
  MaskGraphOptions graph;
  MaskFileOptions files;

  const std::string& picture() const { return files.inputs.front(); }
  BatchOptions batch() const;
  // The same options on another picture, with the mask written to another file.
  std::vector<std::string> on(const std::filesystem::path& other,
                              const std::filesystem::path& mask) const;
};

// The words of a mask command on one picture. Throws Error, saying why, for any other command:
// experiments need one that they understand.
MaskCommand parse_mask_command(const std::vector<std::string>& words);

// A folder for what experiments write, so that no file of the user is touched.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace fuseline::cli
