// Files that are not pictures, or not files: one clear line each, and never a wait.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "frames/jpeg_support.hpp"
#include "frames/png_support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ReadFile : public FolderTest {
 protected:
  std::string message(const std::filesystem::path& path) {
    std::string text = error_of([&] { read_image(path); });
    EXPECT_THAT(text, StartsWith(path.string() + ": "));
    EXPECT_EQ(error_of([&] { probe_image(path); }), text);
    return text;
  }
};

TEST_F(ReadFile, ContentDecidesNotTheName) {
  Bytes pixels = gradient(8, 9, 3);
  EXPECT_EQ(read_image(file("a.jpg", make_png(pixels, 8, 9, {}))).format, ImageFormat::png);
  EXPECT_EQ(read_image(file("b.png", make_jpeg(pixels, 8, 9, {}))).format, ImageFormat::jpeg);
  EXPECT_EQ(probe_image(file("c", make_png(pixels, 8, 9, {}))).channels, 3);
}

TEST_F(ReadFile, ProbeNeedsOnlyTheHeader) {
  Bytes png = make_png(gradient(40, 90, 3), 40, 90, {});
  png.resize(60);
  ImageInfo info = probe_image(file("cut.png", png));
  EXPECT_EQ(info.width, 90);
  EXPECT_EQ(info.height, 40);
  EXPECT_EQ(info.orientation, 1);
  EXPECT_EQ(name_of(info.format), "PNG");
}

TEST_F(ReadFile, WhatIsNoPictureFile) {
  EXPECT_THAT(message(path("none.png")), HasSubstr("No such file"));
  EXPECT_THAT(message(file("empty.png", "")), HasSubstr("empty"));
  EXPECT_THAT(message(file("notes.jpg", "dear diary")), HasSubstr("not a picture"));
  EXPECT_THAT(message(folder_), HasSubstr("a folder, not a picture file"));
  EXPECT_THAT(message("/dev/zero"), HasSubstr("a device, not a picture file"));
}

TEST_F(ReadFile, FifosAndSocketsAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path("fifo.png").c_str(), 0600), 0);
  EXPECT_THAT(message(path("fifo.png")), HasSubstr("a FIFO, not a picture file"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path("s").c_str(), sizeof address.sun_path - 1);
  int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(message(path("s")), HasSubstr("a socket, not a picture file"));
  ::close(socket);
}

TEST_F(ReadFile, LinksAreFollowedAndLoopsNamed) {
  file("real.png", make_png(gradient(8, 9, 3), 8, 9, {}));
  std::filesystem::create_symlink("real.png", path("link.png"));
  EXPECT_EQ(read_image(path("link.png")).width(), 9);
  std::filesystem::create_symlink("loop.png", path("loop.png"));
  EXPECT_THAT(message(path("loop.png")), HasSubstr("cannot be read"));
}

TEST_F(ReadFile, UnreadableFile) {
  OrdinaryUser user(folder_);
  file("secret.png", make_png(gradient(8, 9, 3), 8, 9, {}));
  ASSERT_EQ(::chmod(path("secret.png").c_str(), 0), 0);
  EXPECT_THAT(message(path("secret.png")), HasSubstr("Permission denied"));
}

TEST_F(ReadFile, TheMessageStaysOneLine) {
  std::string text = error_of([&] { read_image(path("two\nlines.png")); });
  EXPECT_THAT(text, HasSubstr("two\\x0alines.png"));
}

TEST_F(ReadFile, NoDescriptorIsLeftOpen) {
  auto open_files = [] {
    using std::filesystem::directory_iterator;
    return std::distance(directory_iterator("/proc/self/fd"), directory_iterator());
  };
  Bytes cut = make_png(gradient(8, 9, 3), 8, 9, {});
  cut.resize(cut.size() - 20);
  auto before = open_files();
  for (int i = 0; i < 10; ++i) {
    error_of([&] { read_image(file("cut.png", cut)); });
    error_of([&] { read_image(file("notes.jpg", "dear diary")); });
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace fuseline::test
