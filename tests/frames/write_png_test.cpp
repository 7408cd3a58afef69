// The PNG writer: round trips through libpng, strides, and outputs that cannot be written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>

#include "frames/support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Bytes runs(std::size_t count, unsigned longest) {
  std::mt19937 random(2);
  Bytes bytes;
  std::uint8_t value = 0;
  while (bytes.size() < count) {
    bytes.insert(bytes.end(), 1 + random() % longest, value);
    value = static_cast<std::uint8_t>(255 - value);
  }
  bytes.resize(count);
  return bytes;
}

class WritePng : public FolderTest {
 protected:
  void expect_round_trip(Bytes pixels, int height, int width, int channels) {
    Shape shape = {height, width, channels};
    write_png(path("out.png"), Tensor(pixels.data(), DType::u8, shape));
    Image image = read_image(path("out.png"));
    EXPECT_EQ(image.pixels.shape(), shape);
    EXPECT_TRUE(bytes_of(image.pixels) == pixels)
        << height << "x" << width << "x" << channels << " differ";
  }
};

TEST_F(WritePng, RoundTrips) {
  for (auto [height, width] :
       {std::pair{1, 1}, {1, 8}, {7, 1}, {3, 5}, {64, 64}, {129, 257}, {300, 1021}})
    for (int channels : {1, 3, 4}) {
      auto count = static_cast<std::size_t>(height * width * channels);
      expect_round_trip(noise(count), height, width, channels);
      expect_round_trip(gradient(height, width, channels), height, width, channels);
      expect_round_trip(runs(count, 2), height, width, channels);
      expect_round_trip(runs(count, 700), height, width, channels);
      expect_round_trip(Bytes(count, 255), height, width, channels);
    }
}

TEST_F(WritePng, SeveralBlocksAndChunks) {
  expect_round_trip(noise(1500 * 2003), 1500, 2003, 1);
  Bytes png = bytes_of(path("out.png"));
  const std::string type = "IDAT";
  auto first = std::search(png.begin(), png.end(), type.begin(), type.end());
  EXPECT_NE(std::search(first + 4, png.end(), type.begin(), type.end()), png.end());
  expect_round_trip(runs(2160 * 3840, 60), 2160, 3840, 1);
  expect_round_trip(gradient(3, 200000, 3), 3, 200000, 3);  // a row above one block
}

TEST_F(WritePng, MasksAndPhotographsBothShrink) {
  Bytes mask = runs(1000 * 1000, 50);
  write_png(path("mask.png"), Tensor(mask.data(), DType::u8, {1000, 1000}));
  EXPECT_LT(std::filesystem::file_size(path("mask.png")), mask.size() / 12);
  Bytes photograph = gradient(500, 500, 3);
  write_png(path("photo.png"), Tensor(photograph.data(), DType::u8, {500, 500, 3}));
  EXPECT_LT(std::filesystem::file_size(path("photo.png")), photograph.size() * 2 / 3);
}

// The filter of each row of a written file, whose pixel data fit in one chunk.
Bytes filters_of(const Bytes& png, std::size_t row_bytes, std::size_t height) {
  const std::string type = "IDAT";
  auto data = std::search(png.begin(), png.end(), type.begin(), type.end()) + 4;
  Bytes rows((1 + row_bytes) * height), filters;
  uLongf size = rows.size();
  EXPECT_EQ(uncompress(rows.data(), &size, &*data, static_cast<uLong>(png.end() - data)), Z_OK);
  for (std::size_t i = 0; i < rows.size(); i += 1 + row_bytes) filters.push_back(rows[i]);
  return filters;
}

TEST_F(WritePng, OnlyPhotographsAreFiltered) {
  Bytes hard = noise(100 * 100), soft(100 * 100, 0), photograph = gradient(100, 100, 1);
  for (auto& m : hard) m = m > 127 ? 255 : 0;
  for (std::size_t i = 0; i < soft.size(); i += 10) soft[i] = static_cast<std::uint8_t>(i);
  auto filters = [&](Bytes& pixels) {
    write_png(path("out.png"), Tensor::of(pixels.data(), {100, 100}));
    return filters_of(bytes_of(path("out.png")), 100, 100);
  };
  EXPECT_EQ(filters(hard), Bytes(100, 0));
  EXPECT_EQ(filters(soft), Bytes(100, 0));
  EXPECT_THAT(filters(photograph), testing::Not(testing::Contains(0)));
}

TEST_F(WritePng, StridedTensors) {
  Bytes pixels = noise(20 * 30 * 3);
  Tensor flipped(pixels.data() + 19 * 90, DType::u8, {20, 30, 3}, {-90, 3, 1});
  write_png(path("flipped.png"), flipped);
  EXPECT_EQ(bytes_of(read_image(path("flipped.png")).pixels), shown(pixels, 20, 30, 3, 4));
  Tensor turned(pixels.data(), DType::u8, {30, 20, 3}, {3, 90, 1});
  write_png(path("turned.png"), turned);
  EXPECT_EQ(bytes_of(read_image(path("turned.png")).pixels), shown(pixels, 20, 30, 3, 5));
  Tensor green(pixels.data() + 1, DType::u8, {20, 30}, {90, 3});
  write_png(path("green.png"), green);
  Bytes expected;
  for (std::size_t i = 1; i < pixels.size(); i += 3) expected.push_back(pixels[i]);
  EXPECT_EQ(bytes_of(read_image(path("green.png")).pixels), expected);
}

TEST_F(WritePng, BitsAreWhiteWhereNotZero) {
  for (int height : {1, 5})
    for (int width = 1; width < 70; ++width) {
      Bytes mask = noise(static_cast<std::size_t>(height * width), 4), expected;
      for (auto& m : mask) m = m % 3 ? 0 : m;
      for (auto m : mask) expected.push_back(m ? 255 : 0);
      write_png_bits(path("bits.png"), Tensor(mask.data(), DType::u8, {height, width}));
      Image image = read_image(path("bits.png"));
      EXPECT_EQ(bytes_of(image.pixels), expected) << height << "x" << width;
      EXPECT_EQ(bytes_of(path("bits.png"))[24], 1) << "bits a sample";
    }
  bool flags[6] = {true, false, false, true, true, false};
  write_png_bits(path("bool.png"), Tensor::of(flags, {2, 3}));
  EXPECT_EQ(bytes_of(read_image(path("bool.png")).pixels), (Bytes{255, 0, 0, 255, 255, 0}));
}

TEST_F(WritePng, RefusesWhatIsNoPicture) {
  Bytes pixels(64);
  auto refused = [&](DType dtype, Shape shape) {
    Tensor tensor(pixels.data(), dtype, std::move(shape));
    return error_of([&] { write_png(path("no.png"), tensor); });
  };
  EXPECT_THAT(refused(DType::f32, {2, 2}), HasSubstr("needs u8 pixels, got f32"));
  EXPECT_THAT(refused(DType::u8, {2, 2, 2}), HasSubstr("got [2, 2, 2]"));
  EXPECT_THAT(refused(DType::u8, {64}), HasSubstr("got [64]"));
  EXPECT_THAT(refused(DType::u8, {0, 4}), HasSubstr("got [0, 4]"));
  Tensor color(pixels.data(), DType::u8, {2, 2, 3});
  EXPECT_THAT(error_of([&] { write_png_bits(path("no.png"), color); }), HasSubstr("mask"));
  EXPECT_TRUE(names().empty());
}

class WritePngFault : public FolderTest {
 protected:
  std::string message(const std::filesystem::path& target) {
    std::string text = error_of([&] { write_png(target, Tensor::of(pixels_.data(), {200, 200})); });
    EXPECT_THAT(text, StartsWith(target.string() + ": cannot be written: "));
    return text;
  }
  Bytes pixels_ = noise(200 * 200);
};

TEST_F(WritePngFault, MissingFolder) {
  EXPECT_THAT(message(path("none/out.png")), HasSubstr("No such file or directory"));
}

TEST_F(WritePngFault, UnwritableFolder) {
  OrdinaryUser user(folder_);
  std::filesystem::create_directory(path("closed"));
  ASSERT_EQ(::chmod(path("closed").c_str(), 0500), 0);
  EXPECT_THAT(message(path("closed/out.png")), HasSubstr("Permission denied"));
}

TEST_F(WritePngFault, FoldersFifosAndDevicesStayWhatTheyAre) {
  EXPECT_THAT(message(folder_), HasSubstr("it is a folder"));
  EXPECT_THAT(message("/dev/full"), HasSubstr("it is not a regular file"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(message(path("fifo")), HasSubstr("it is not a regular file"));
  EXPECT_TRUE(std::filesystem::is_fifo(path("fifo")));
}

TEST_F(WritePngFault, LinksAreWrittenThrough) {
  std::filesystem::create_directory(path("real"));
  file("real/old.png", "old");
  std::filesystem::create_symlink("real/old.png", path("link.png"));
  write_png(path("link.png"), Tensor::of(pixels_.data(), {200, 200}));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.png")));
  EXPECT_EQ(bytes_of(read_image(path("real/old.png")).pixels), pixels_);
}

TEST_F(WritePngFault, PermissionsFollowTheUmask) {
  mode_t before = ::umask(027);
  write_png(path("out.png"), Tensor::of(pixels_.data(), {200, 200}));
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path("out.png").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

// The write itself fails: the old file stays, and nothing else is left behind.
TEST_F(WritePngFault, FileSizeLimit) {
  file("out.png", "old");
  auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 10000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string text = message(path("out.png"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(text, HasSubstr("File too large"));
  EXPECT_EQ(bytes_of(path("out.png")), (Bytes{'o', 'l', 'd'}));
  EXPECT_EQ(names(), (std::set<std::string>{"out.png"}));
}

TEST_F(WritePngFault, FullDisk) {
  std::filesystem::create_directory(path("disk"));
  if (::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, "size=16k") != 0)
    GTEST_SKIP() << "a small file system cannot be mounted: " << std::strerror(errno);
  std::string text = message(path("disk/out.png"));
  bool empty = std::filesystem::is_empty(path("disk"));
  EXPECT_EQ(::umount(path("disk").c_str()), 0);
  EXPECT_THAT(text, HasSubstr("No space left"));
  EXPECT_TRUE(empty);
}

}  // namespace
}  // namespace fuseline::test
