// Runs the program as a user does, in a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "frames/jpeg_support.hpp"
#include "frames/png_support.hpp"
#include "frames/support.hpp"

namespace fuseline::test {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

inline std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

class CliTest : public FolderTest {
 protected:
  static std::string program() { return FUSELINE_BINARY_DIR "/bin/fuseline"; }

  // The words are the program's arguments; its working directory is the test's folder.
  Outcome run(const std::vector<std::string>& words, const std::string& environment = "") const {
    std::string command = environment + " " + shell_word(program());
    for (const std::string& word : words) command += " " + shell_word(word);
    return shell(command);
  }

  // Any shell command there, with the cache of generated code that all these tests share.
  Outcome shell(const std::string& command) const {
    std::string out = logs() + "-out", err = logs() + "-err";
    std::string line =
        "cd " + shell_word(folder_) +
        " && FUSELINE_CACHE_DIR=" + shell_word(FUSELINE_BINARY_DIR "/tests/cli-cache") +
        " && export FUSELINE_CACHE_DIR && { " + command + " ; } >" + shell_word(out) + " 2>" +
        shell_word(err) + " </dev/null";
    int status = std::system(line.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
    std::filesystem::remove(out);
    std::filesystem::remove(err);
    return outcome;
  }

  // One line of error, in the user's terms, and nothing of our insides.
  static void expect_one_line(const std::string& err, const std::string& part) {
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_THAT(err, testing::StartsWith("fuseline: error: "));
    EXPECT_THAT(err, testing::HasSubstr(part));
    EXPECT_THAT(err, testing::Not(testing::HasSubstr("internal")));
  }

  void jpeg(const std::string& name, int height = 12, int width = 20) const {
    file(name, make_jpeg(gradient(height, width, 3), height, width, {}));
  }
  void png(const std::string& name, int height = 12, int width = 20) const {
    file(name, make_png(gradient(height, width, 3), height, width, {}));
  }

 private:
  std::string logs() const { return folder_.string() + "-log"; }
  static std::string text_of(const std::string& path) {
    Bytes bytes = bytes_of(std::filesystem::path(path));
    return {bytes.begin(), bytes.end()};
  }
};

// 255 where OpenCV's gray value is above the threshold.
inline Bytes expected_mask(const Bytes& pixels, int channels, int threshold) {
  Bytes mask;
  for (std::size_t i = 0; i + static_cast<std::size_t>(channels) <= pixels.size();
       i += static_cast<std::size_t>(channels)) {
    int level = pixels[i];
    if (channels > 1)
      level = (9798 * pixels[i] + 19235 * pixels[i + 1] + 3735 * pixels[i + 2] + 16384) >> 15;
    mask.push_back(level > threshold ? 255 : 0);
  }
  return mask;
}

inline std::int64_t area_of(const Bytes& mask) {
  return std::count(mask.begin(), mask.end(), std::uint8_t{255});
}

}  // namespace fuseline::test
