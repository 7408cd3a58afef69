// Parsing of the measured mask command, and its variants.
#include "cli/diagnose_mask.hpp"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

#include "base/fail.hpp"
#include "cli/parse.hpp"

namespace fuseline::cli {

namespace fs = std::filesystem;

BatchOptions MaskCommand::batch() const { return {{{files.pixel_limit()}, true}, files.one_bit()}; }

std::vector<std::string> MaskCommand::on(const fs::path& other, const fs::path& mask) const {
  std::vector<std::string> words = {"mask",     other,        "--threshold",    graph.threshold,
                                    "--gray",   graph.gray,   "--device",       graph.device,
                                    "--fusion", graph.fusion, "--record",       graph.record,
                                    "--bits",   files.bits,   "--limit-pixels", files.limit_pixels};
  auto add = [&](std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (!graph.threads.empty()) add({"--threads", graph.threads});
  if (graph.invert) add({"--invert"});
  if (graph.area_only)
    add({"--area-only"});
  else
    add({"-o", mask});
  return words;
}

void parse_words(CLI::App& app, const std::vector<std::string>& words) {
  std::vector<const char*> all;
  for (const std::string& word : words) all.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(all.size()), all.data());
  } catch (const CLI::ParseError& error) {
    fail("{}", usage_message(app, error));
  }
}

MaskCommand parse_mask_command(const std::vector<std::string>& words) {
  MaskCommand command;
  CLI::App app;
  command.files.add_to(app);
  command.graph.add_to(app);
  parse_words(app, words);
  if (command.files.account) fail("not for --account, which measures by itself");
  return command;
}

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "fuseline-diagnose-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    fail("{}: no folder can be made: {}", fs::temp_directory_path().string(),
         std::error_code(errno, std::generic_category()).message());
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what is left lies in the folder for temporary files
  fs::remove_all(path_, ignored);
}

}  // namespace fuseline::cli
