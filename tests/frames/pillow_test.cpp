// Against Pillow and OpenCV, where a Python with both is at hand.
#include <gmock/gmock.h>

#include <cstdio>
#include <sstream>

#include "frames/support.hpp"

namespace fuseline::test {
namespace {

class Peers : public FolderTest {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSELINE_TEST_PYTHON");
    if (!python || !*python)
      GTEST_SKIP() << "FUSELINE_TEST_PYTHON names no Python with Pillow and OpenCV";
    python_ = python;
  }

  // What the script prints; the test fails if the script does.
  std::string run(const std::string& script) {
    std::string command = "'" + python_ + "' '" FUSELINE_SOURCE_DIR "/tests/frames/" + script +
                          "' '" + folder_.string() + "' 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
    EXPECT_EQ(::pclose(pipe), 0) << output;
    return output;
  }

  std::string python_;
};

// The data of a .npy file of version 1: 10 bytes, of which the last two tell the header's length.
Bytes npy_data(const std::filesystem::path& path) {
  Bytes bytes = bytes_of(path);
  if (bytes.size() < 10) return {};
  std::ptrdiff_t start = 10 + bytes[8] + 256 * bytes[9];
  return Bytes(bytes.begin() + start, bytes.end());
}

int greatest_difference(const Bytes& a, const Bytes& b) {
  if (a.size() != b.size()) return 256;
  int greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) greatest = std::max(greatest, std::abs(a[i] - b[i]));
  return greatest;
}

TEST_F(Peers, PillowReadsTheSamePixels) {
  run("make_cases.py");
  std::ifstream cases(path("cases.txt"));
  int compared = 0, refused = 0;
  for (std::string line, name, height; std::getline(cases, line);) {
    std::istringstream fields(line);
    fields >> name >> height;
    SCOPED_TRACE(name);
    if (height == "REFUSED") {
      std::string message = error_of([&] { read_image(path(name)); });
      EXPECT_THAT(message, testing::HasSubstr("not supported yet: "));
      ++refused;
      continue;
    }
    std::int64_t width = 0, channels = 0;
    int tolerance = 0;
    fields >> width >> channels >> tolerance;
    Image image = read_image(path(name));
    EXPECT_EQ(image.pixels.shape(), (Shape{std::stoll(height), width, channels}));
    EXPECT_LE(greatest_difference(bytes_of(image.pixels), npy_data(path(name + ".npy"))),
              tolerance);
    ++compared;
  }
  EXPECT_GE(compared, 200);
  EXPECT_GE(refused, 6);
}

TEST_F(Peers, PillowAndOpenCvReadWhatIsWritten) {
  int written = 0;
  for (int channels : {1, 3, 4})
    for (auto [height, width] : {std::pair{1, 1}, {3, 7}, {64, 64}, {777, 1025}})
      for (int kind = 0; kind < 4; ++kind) {
        auto count = static_cast<std::size_t>(height * width * channels);
        Bytes pixels = kind == 0 ? noise(count) : gradient(height, width, channels);
        if (kind == 2)
          for (auto& p : pixels) p = p > 90 ? 255 : 0;
        if (kind == 3) pixels.assign(count, 128);
        std::string name = std::to_string(kind) + "-" + std::to_string(height) + "x" +
                           std::to_string(width) + "x" + std::to_string(channels) + ".png";
        write_png(path(name), Tensor::of(pixels.data(), {height, width, channels}));
        file(name + ".raw", pixels);
        ++written;
        if (channels != 1) continue;
        write_png_bits(path("bits" + name), Tensor::of(pixels.data(), {height, width}));
        for (auto& p : pixels) p = p ? 255 : 0;
        file("bits" + name + ".raw", pixels);
        ++written;
      }
  EXPECT_EQ(run("check_written.py"), std::to_string(written) + "\n");
}

}  // namespace
}  // namespace fuseline::test
