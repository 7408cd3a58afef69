// What the tests of pictures share: a folder of their own, bytes of files, and test pictures.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fuseline/error.hpp"
#include "fuseline/image.hpp"

namespace fuseline::test {

using Bytes = std::vector<std::uint8_t>;

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "fuseline-frames-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  std::filesystem::path file(const std::string& name, std::span<const std::uint8_t> bytes) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  std::filesystem::path file(const std::string& name, std::string_view text) const {
    return file(name, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      found.insert(entry.path().filename());
    return found;
  }

  std::filesystem::path folder_;
};

// Root may do everything; while this lives, even root is an ordinary user of `folder`.
class OrdinaryUser {
 public:
  explicit OrdinaryUser(const std::filesystem::path& folder) : was_root_(::geteuid() == 0) {
    if (!was_root_) return;
    constexpr uid_t nobody = 65534;
    EXPECT_EQ(::chown(folder.c_str(), nobody, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(::seteuid(nobody), 0);
  }
  ~OrdinaryUser() {
    if (was_root_ && ::seteuid(0) != 0) ADD_FAILURE() << "cannot become root again";
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  bool was_root_;
};

inline Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

inline Bytes bytes_of(const Tensor& pixels) {
  auto data = pixels.as<const std::uint8_t>();
  return Bytes(data, data + pixels.bytes());
}

inline Image decode(const Bytes& bytes, const ReadOptions& options = {}) {
  return decode_image(std::as_bytes(std::span(bytes)), options);
}

// The message of the Error that `call` throws; the test fails if it throws none, or if the
// message is not one line.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

// A picture of `samples` a pixel: gradients with noise, so that neighbours differ but are close.
inline Bytes gradient(int height, int width, int samples, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < samples; ++c)
        pixels.push_back(static_cast<std::uint8_t>(3 * x + 5 * y + 70 * c + random() % 8));
  return pixels;
}

inline Bytes noise(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

// An EXIF block of one entry.
inline Bytes exif_block(int orientation, bool big_endian) {
  auto number = [&](int value, int count) {
    Bytes bytes(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      bytes[static_cast<std::size_t>(big_endian ? count - 1 - i : i)] =
          static_cast<std::uint8_t>(value >> (8 * i));
    return bytes;
  };
  Bytes block = big_endian ? Bytes{'M', 'M'} : Bytes{'I', 'I'};
  auto add = [&](const Bytes& bytes) { block.insert(block.end(), bytes.begin(), bytes.end()); };
  add(number(42, 2));
  add(number(8, 4));       // the directory
  add(number(1, 2));       // entries
  add(number(0x0112, 2));  // orientation
  add(number(3, 2));       // of type SHORT
  add(number(1, 4));
  add(number(orientation, 2));
  add(number(0, 2));
  add(number(0, 4));  // no further directory
  return block;
}

// `pixels` [height, width, samples] as a viewer shows it, by the definition of each orientation.
inline Bytes shown(const Bytes& pixels, int height, int width, int samples, int orientation) {
  bool turned = orientation >= 5;
  int out_height = turned ? width : height, out_width = turned ? height : width;
  Bytes out;
  for (int y = 0; y < out_height; ++y)
    for (int x = 0; x < out_width; ++x) {
      int row = turned ? x : y, column = turned ? y : x;
      bool flip_rows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
      bool flip_columns =
          orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
      if (flip_rows) row = height - 1 - row;
      if (flip_columns) column = width - 1 - column;
      for (int c = 0; c < samples; ++c)
        out.push_back(pixels[static_cast<std::size_t>((row * width + column) * samples + c)]);
    }
  return out;
}

}  // namespace fuseline::test
