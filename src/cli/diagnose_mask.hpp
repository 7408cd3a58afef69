// The mask command as an object of experiments: what it was asked, and the commands to try instead.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/mask_batch.hpp"
#include "cli/mask_options.hpp"

namespace fuseline::cli {

// `mask PICTURE...` with its options.
struct MaskCommand {
  MaskGraphOptions graph;
  MaskFileOptions files;

  BatchOptions batch() const;
  // The same options on another picture or folder, with the masks written elsewhere.
  std::vector<std::string> on(const std::filesystem::path& other,
                              const std::filesystem::path& mask) const;
};

// Throws Error for words that the command would refuse.
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

// Throws what `parse` throws as an Error in our words.
void parse_words(CLI::App& app, const std::vector<std::string>& words);

}  // namespace fuseline::cli
