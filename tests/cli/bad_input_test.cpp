// What cannot be masked: one clear line, the right exit code, and the rest of a batch still runs.
#include <fcntl.h>
#include <sys/mount.h>
#include <zlib.h>

#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BadInput : public CliTest {
 protected:
  // One picture that cannot be read: alone, and in a batch with a good one.
  void expect_refused(const std::string& name, const std::string& part) const {
    SCOPED_TRACE(name);
    Outcome alone = run({"mask", name});
    EXPECT_EQ(alone.code, 2);
    EXPECT_EQ(alone.out, "");
    expect_one_line(alone.err, part);
    png("good.png");
    Outcome batch = run({"mask", name, "good.png", "-o", "out", "--json"});
    EXPECT_EQ(batch.code, 1);
    nlohmann::json json = batch.json();
    EXPECT_EQ(json["images"].size(), 1u);
    EXPECT_EQ(json["failed"].size(), 1u);
    EXPECT_TRUE(std::filesystem::exists(path("out/good.mask.png")));
  }
};

TEST_F(BadInput, MissingFile) { expect_refused("missing.jpg", "missing.jpg: cannot be read"); }

TEST_F(BadInput, ZeroBytes) {
  file("empty.png", "");
  expect_refused("empty.png", "empty.png: empty");
}

TEST_F(BadInput, NotAPicture) {
  file("text.png", "only text");
  expect_refused("text.png", "text.png: not a picture");
}

TEST_F(BadInput, TruncatedJpeg) {
  Bytes bytes = make_jpeg(gradient(64, 64, 3), 64, 64, {});
  file("cut.jpg", std::span(bytes).first(bytes.size() / 2));
  expect_refused("cut.jpg", "cut.jpg: truncated JPEG");
}

TEST_F(BadInput, TruncatedPng) {
  Bytes bytes = make_png(gradient(64, 64, 3), 64, 64, {});
  file("cut.png", std::span(bytes).first(bytes.size() / 2));
  expect_refused("cut.png", "cut.png: truncated PNG");
}

TEST_F(BadInput, CmykAndSixteenBit) {
  file("cmyk.jpg", make_jpeg(gradient(8, 8, 4), 8, 8, {JCS_CMYK, 4, 1, 1}));
  expect_refused("cmyk.jpg", "cmyk.jpg: not supported yet: ");
  file("deep.png", make_png(gradient(8, 8, 6), 8, 8, {PNG_COLOR_TYPE_RGB, 16}));
  expect_refused("deep.png", "deep.png: not supported yet: 16-bit PNG");
}

TEST_F(BadInput, DeclaredSizeAboveTheLimit) {
  // A header alone: the size is refused before anything is decoded.
  Bytes bytes = make_png(gradient(4, 4, 3), 4, 4, {});
  for (std::size_t side : {16u, 20u}) {
    bytes[side] = 0x00, bytes[side + 1] = 0x00, bytes[side + 2] = 0x9c, bytes[side + 3] = 0x40;
  }
  // The header's checksum, as zlib computes it over the 17 bytes that begin with the chunk's name.
  auto checksum = ::crc32(0, bytes.data() + 12, 17);
  for (std::size_t i = 0; i < 4; ++i)
    bytes[29 + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
  file("huge.png", bytes);
  expect_refused("huge.png", "huge.png: 40000 x 40000 pixels are above the limit of 1000000000");
  png("small.png", 10, 10);
  Outcome limited = run({"mask", "small.png", "--limit-pixels", "99"});
  EXPECT_EQ(limited.code, 2);
  expect_one_line(limited.err, "above the limit of 99 pixels");
  EXPECT_EQ(run({"mask", "small.png", "--limit-pixels", "100"}).code, 0);
}

TEST_F(BadInput, ContentDecidesNotTheName) {
  png("really-png.jpg");
  Outcome outcome = run({"mask", "really-png.jpg", "-o", "out.png"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(read_image(path("out.png")).pixels),
            expected_mask(gradient(12, 20, 3), 3, 127));
}

TEST_F(BadInput, FolderWithoutPictures) {
  std::filesystem::create_directory(path("void"));
  file("void/readme.txt", "text");
  Outcome outcome = run({"mask", "void"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, "no pictures in void");
}

TEST_F(BadInput, FifoAndLinkLoopInAFolder) {
  png("pictures/good.png");
  ASSERT_EQ(::mkfifo(path("pictures/pipe.png").c_str(), 0600), 0);
  std::filesystem::create_directory_symlink("..", path("pictures/loop"));
  std::filesystem::create_symlink("itself.png", path("pictures/itself.png"));
  Outcome outcome = run({"mask", "pictures", "--json", "--area-only"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["images"].size(), 1u);
  Outcome named = run({"mask", "pictures/pipe.png"});
  EXPECT_EQ(named.code, 2);
  expect_one_line(named.err, "pipe.png: ");
}

TEST_F(BadInput, Options) {
  png("in.png");
  struct Case {
    std::vector<std::string> words;
    std::string part;
  };
  const Case cases[] = {
      {{"--threshold", "256"}, "--threshold: \"256\" is not a whole number from 0 to 255"},
      {{"--threshold", "-1"}, "--threshold: \"-1\" is not"},
      {{"--threshold", "1.5"}, "--threshold: \"1.5\" is not"},
      {{"--threshold", "99999999999999999999"}, "is not a whole number"},
      {{"--gray", "bt602_q15"}, "did you mean bt601_q15?"},
      {{"--bits", "4"}, "--bits: \"4\" is none of 8, 1"},
      {{"--fusion", "maybe"}, "--fusion: \"maybe\" is none of on, off"},
      {{"--device", "gpu"}, "--device: \"gpu\" is none of auto, cpu, cuda"},
      {{"--threads", "0"}, "--threads: \"0\" is not"},
      {{"--limit-pixels", "-5"}, "--limit-pixels: \"-5\" is not"},
      {{"--area-only", "-o", "x.png"}, "--area-only writes no mask"},
      {{"-o", "x.jpg"}, "masks are written as PNG"},
      {{"-o", "in.png"}, "the mask would overwrite this picture"},
      {{"-o", "./../" + folder_.filename().string() + "/in.png"}, "would overwrite"},
      {{"-o"}, "see `fuseline mask --help`"},
      {{"in.png", "--account"}, "--account measures one picture, and 2 were named"},
  };
  for (const Case& bad : cases) {
    std::vector<std::string> words = {"mask", "in.png"};
    words.insert(words.end(), bad.words.begin(), bad.words.end());
    SCOPED_TRACE(testing::PrintToString(words));
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2);
    if (bad.words.back() != "--account") expect_one_line(outcome.err, bad.part);
  }
  EXPECT_THAT(names(), ElementsAre("in.png"));
}

TEST_F(BadInput, TwoMasksOfOneName) {
  png("a/x.png");
  jpeg("b/x.jpg");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"mask", "a", "b", "-o", "out"},
        {"mask", "a/x.png", "b/x.jpg", "-o", "out"}}) {
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2);
    expect_one_line(outcome.err, "x.mask.png: the masks of a/x.png and b/x.jpg");
  }
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  jpeg("a/x.jpg");
  Outcome beside = run({"mask", "a"});
  EXPECT_EQ(beside.code, 2);
  expect_one_line(beside.err, "a/x.mask.png: the masks of a/x.jpg and a/x.png");
  EXPECT_FALSE(std::filesystem::exists(path("a/x.mask.png")));
}

TEST_F(BadInput, OutputFolderThatIsAFile) {
  png("a.png");
  png("b.png");
  file("out", "in the way");
  Outcome outcome = run({"mask", "a.png", "b.png", "-o", "out"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, "out: a folder is needed");
}

TEST_F(BadInput, FolderThatCannotBeWritten) {
  png("in.png");
  std::filesystem::create_directory(path("locked"));
  std::filesystem::permissions(
      path("locked"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  // Root writes everywhere; there, a folder that cannot exist does the same.
  std::string folder = ::geteuid() == 0 ? "/proc" : "locked";
  Outcome outcome = run({"mask", "in.png", "-o", folder + "/mask.png"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, folder + "/mask.png: cannot be written");
  Outcome below = run({"mask", "in.png", "-o", folder + "/new/mask.png"});
  EXPECT_EQ(below.code, 2);
  expect_one_line(below.err, folder + "/new: the folder cannot be made");
}

TEST_F(BadInput, FullDisk) {
  std::filesystem::create_directory(path("disk"));
  if (::mount("none", path("disk").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "only root can make a small disk";
  Bytes pixels = noise(std::size_t{3} * 1024 * 1024);
  file("in.png", make_png(pixels, 1024, 1024, {}));
  Outcome outcome = run({"mask", "in.png", "-o", "disk/mask.png"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, "disk/mask.png: cannot be written: No space left on device");
  EXPECT_TRUE(std::filesystem::is_empty(path("disk")));
  ::umount(path("disk").c_str());
}

TEST_F(BadInput, StandardOutputThatTakesNothing) {
  png("in.png");
  Outcome outcome = shell(shell_word(program()) + " mask in.png --area-only > /dev/full");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("could not be written"));
}

TEST_F(BadInput, CudaWithoutADevice) {
  if (run({"info", "--json"}).json()["devices"][1]["available"] == true)
    GTEST_SKIP() << "this machine has a CUDA device";
  png("in.png");
  for (const char* device : {"cuda", "cuda:1"}) {
    Outcome outcome = run({"mask", "in.png", "--device", device});
    EXPECT_EQ(outcome.code, 3);
    expect_one_line(outcome.err, "device cuda cannot be used: ");
    Outcome batch = run({"mask", "in.png", "in.png", "--area-only", "--device", device});
    EXPECT_EQ(batch.code, 3);
    expect_one_line(batch.err, "device cuda cannot be used: ");
  }
  EXPECT_EQ(run({"mask", "in.png", "--device", "cuda:x"}).code, 2);
}

}  // namespace
}  // namespace fuseline::test
