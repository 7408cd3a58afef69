// Rules of the house that a compiler does not check: who includes whom, environment variables,
// sizes of files, unfinished work.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/env.hpp"

namespace fuseline {
namespace {

namespace fs = std::filesystem;

const fs::path root = FUSELINE_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> kinds = {".cpp", ".hpp", ".def"};
  return kinds.contains(path.extension());
}

std::vector<fs::path> sources(const std::vector<std::string>& folders) {
  std::vector<fs::path> files;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && is_source(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_GT(files.size(), 10u);
  return files;
}

// What each room may include beside itself. The arrows of docs/architecture.md.
const std::map<std::string, std::set<std::string>> arrows = {
    {"base", {}},
    {"graph", {"base"}},
    {"passes", {"base", "graph"}},
    {"onnx", {"base", "graph"}},
    {"fuse", {"base", "graph"}},
    {"kernels", {"base", "graph", "fuse"}},
    {"emit", {"base", "graph", "fuse"}},
    {"cache", {"base"}},
    {"nvtx", {"base"}},
    {"program", {"base", "graph", "passes", "fuse", "kernels", "emit", "cache", "nvtx"}},
    {"device", {"base", "graph", "fuse", "emit", "cache", "program"}},
    {"frames", {"base", "graph", "program"}},
    {"apps", {"base", "graph", "program", "frames"}},
    {"ledger", {"base"}},
    {"foreign", {"base", "graph", "emit", "device"}},
    {"cli", {"base", "graph", "onnx", "passes", "cache", "program", "frames", "apps", "ledger",
             "foreign", "nvtx"}},
};

// The room that a public header belongs to.
const std::map<std::string, std::string> public_headers = {
    {"dtype.hpp", "base"},      {"error.hpp", "base"},    {"tensor.hpp", "base"},
    {"dlpack.hpp", "base"},     {"observer.hpp", "base"}, {"dim.hpp", "graph"},
    {"graph.hpp", "graph"},     {"ops.hpp", "graph"},     {"ops.def", "graph"},
    {"program.hpp", "program"}, {"image.hpp", "frames"},  {"mask.hpp", "apps"},
    {"onnx.hpp", "onnx"},
    {"stage.h", "base"},
};

std::string room_of_include(const std::string& name) {
  std::size_t slash = name.find('/');
  if (slash == name.npos) return {};
  std::string folder = name.substr(0, slash);
  if (folder != "fuseline") return folder;
  auto found = public_headers.find(name.substr(slash + 1));
  return found == public_headers.end() ? "unknown" : found->second;
}

std::string room_of_file(const fs::path& file) {
  fs::path relative = file.lexically_relative(root);
  if (*relative.begin() == "include")
    return room_of_include("fuseline/" + file.filename().string());
  return *std::next(relative.begin());
}

std::vector<std::string> includes_of(const std::string& text, char open, char close) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find("#include ");
    if (at == line.npos || line.size() < at + 11 || line[at + 9] != open) continue;
    names.push_back(line.substr(at + 10, line.find(close, at + 10) - at - 10));
  }
  return names;
}

TEST(Architecture, EveryPublicHeaderHasARoom) {
  for (const auto& entry : fs::directory_iterator(root / "include/fuseline"))
    EXPECT_TRUE(public_headers.contains(entry.path().filename())) << entry.path();
}

TEST(Architecture, EveryRoomHasItsArrows) {
  for (const auto& entry : fs::directory_iterator(root / "src"))
    if (entry.is_directory()) {
      EXPECT_TRUE(arrows.contains(entry.path().filename())) << entry.path();
    }
}

TEST(Architecture, IncludesFollowTheArrows) {
  for (const fs::path& file : sources({"src", "include"})) {
    std::string room = room_of_file(file);
    ASSERT_TRUE(arrows.contains(room)) << file;
    for (const std::string& name : includes_of(read(file), '"', '"')) {
      std::string other = room_of_include(name);
      EXPECT_FALSE(other.empty()) << file << " includes \"" << name << "\" without its room";
      EXPECT_TRUE(other == room || arrows.at(room).contains(other))
          << file << " (" << room << ") includes \"" << name << "\" (" << other << ")";
    }
  }
}

TEST(Architecture, PublicHeadersIncludeNothingForeign) {
  for (const auto& entry : fs::directory_iterator(root / "include/fuseline")) {
    std::string text = read(entry.path());
    // Who includes dlpack.hpp has that standard's header; stage.h is plain C for other programs.
    if (entry.path().filename() == "dlpack.hpp" || entry.path().extension() == ".h") continue;
    for (const std::string& name : includes_of(text, '<', '>'))
      EXPECT_EQ(name.find_first_of("./"), name.npos)
          << entry.path() << " includes <" << name << ">";
    for (const std::string& name : includes_of(text, '"', '"'))
      EXPECT_THAT(name, testing::StartsWith("fuseline/")) << entry.path();
  }
}

TEST(Architecture, OneReaderOfTheEnvironment) {
  const std::regex reader("\\b(secure_)?(getenv|setenv|putenv)\\b");
  for (const fs::path& file : sources({"src", "include"})) {
    if (file == root / "src/base/env.cpp") continue;
    EXPECT_FALSE(std::regex_search(read(file), reader)) << file << " goes around base/env.hpp";
  }
}

TEST(Architecture, EveryVariableOfTheTableIsRead) {
  std::string all;
  for (const fs::path& file : sources({"src"})) all += read(file);
  std::string table = read(root / "src/base/env.def");
  const std::regex row("FUSELINE_ENV\\((\\w+), \"(\\w+)\"");
  std::size_t rows = 0;
  for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at, ++rows)
    EXPECT_NE(all.find("EnvVar::" + (*at)[1].str()), all.npos) << (*at)[2] << " is never read";
  EXPECT_EQ(rows, env_table().size());
}

TEST(Architecture, EveryMentionedVariableExists) {
  std::set<std::string> known;
  for (const EnvRow& row : env_table()) known.insert(std::string(row.name));
  const std::regex variable("\"(FUSELINE_[A-Z_]+)");
  for (const fs::path& file : sources({"src"})) {
    std::string text = read(file);
    for (std::sregex_iterator at(text.begin(), text.end(), variable), end; at != end; ++at)
      EXPECT_TRUE(known.contains((*at)[1])) << file << " names " << (*at)[1];
  }
}

TEST(Architecture, FilesStayShortAndSayWhatTheyAre) {
  for (const fs::path& file : sources({"src", "include", "tests", "bench"})) {
    std::string text = read(file);
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 600) << file;
    EXPECT_THAT(text, testing::StartsWith("// ")) << file << " does not open with its purpose";
    if (file.extension() == ".hpp") {
      EXPECT_THAT(text, testing::HasSubstr("#pragma once")) << file;
    }
  }
}

TEST(Architecture, NothingIsLeftUnfinished) {
  const std::vector<std::string> marks = {std::string("TO") + "DO", std::string("FIX") + "ME",
                                          std::string("XX") + "X", std::string("HA") + "CK"};
  for (const fs::path& file : sources({"src", "include", "tests", "bench"})) {
    std::string text = read(file);
    for (const std::string& mark : marks) {
      std::regex word("\\b" + mark + "\\b");
      EXPECT_FALSE(std::regex_search(text, word)) << file << " holds " << mark;
    }
    // Paths of one machine.
    EXPECT_FALSE(std::regex_search(text, std::regex("[\" ]/(work|tmp)/"))) << file;
  }
}

}  // namespace
}  // namespace fuseline
