// Listing: order, content, links, and what is not a picture.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/support.hpp"

namespace fuseline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view jpeg = "\xff\xd8\xff\xe0....................";
constexpr std::string_view png = "\x89PNG\r\n\x1a\n....................";

class ListImages : public FolderTest {
 protected:
  std::vector<ImageEntry> list(std::vector<std::filesystem::path> paths) {
    return list_images(paths);
  }
  std::vector<std::string> relative(const std::vector<ImageEntry>& entries) {
    std::vector<std::string> found;
    for (const ImageEntry& entry : entries) found.push_back(entry.relative);
    return found;
  }
};

TEST_F(ListImages, FoldersInSortedOrderByContent) {
  file("b.png", png);
  file("a/2.txt", jpeg);
  file("a/10", png);
  file("a/x/deep.jpg", jpeg);
  file("c.gif", "GIF89a....");
  file("notes.txt", "dear diary");
  file("fake.jpg", "dear diary");
  file("Z.JPG", jpeg);
  auto entries = list({folder_});
  EXPECT_THAT(relative(entries),
              ElementsAre("Z.JPG", "a/10", "a/2.txt", "a/x/deep.jpg", "b.png", "c.gif"));
  EXPECT_EQ(entries[2].path, path("a/2.txt"));
  EXPECT_EQ(entries[2].problem, "");
}

TEST_F(ListImages, GivenFilesAreTakenAsTheyAre) {
  file("notes.txt", "dear diary");
  auto entries = list({path("notes.txt"), path("none.png")});
  EXPECT_THAT(relative(entries), ElementsAre("notes.txt", "none.png"));
}

TEST_F(ListImages, EmptyPictureFilesAreListedSoThatTheyAreReported) {
  file("broken.PNG", "");
  file("empty.txt", "");
  EXPECT_THAT(relative(list({folder_})), ElementsAre("broken.PNG"));
}

TEST_F(ListImages, LinkLoopsEndAndFoldersAreWalkedOnce) {
  file("a/1.png", png);
  std::filesystem::create_directory_symlink("..", path("a/up"));
  std::filesystem::create_directory_symlink("a", path("b"));
  std::filesystem::create_symlink("a/1.png", path("one.png"));
  std::filesystem::create_symlink("nowhere", path("dangling.png"));
  std::filesystem::create_symlink("self", path("self"));
  EXPECT_THAT(relative(list({folder_})), ElementsAre("a/1.png", "one.png"));
}

TEST_F(ListImages, FifosArePassedOver) {
  ASSERT_EQ(::mkfifo(path("fifo.png").c_str(), 0600), 0);
  file("real.png", png);
  EXPECT_THAT(relative(list({folder_})), ElementsAre("real.png"));
}

TEST_F(ListImages, FolderWithoutPictures) {
  std::filesystem::create_directory(path("empty"));
  file("text/notes.txt", "dear diary");
  EXPECT_EQ(error_of([&] { list({path("empty")}); }), "no pictures in " + path("empty").string());
  EXPECT_EQ(error_of([&] {
              list({path("text"), path("empty")});
            }),
            "no pictures in " + path("text").string());
  auto entries = list({path("empty"), file("b.png", png)});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_THAT(entries[0].problem, HasSubstr("no pictures in"));
  EXPECT_EQ(entries[1].problem, "");
}

TEST_F(ListImages, UnreadableFolderAndFileAreReported) {
  OrdinaryUser user(folder_);
  file("a.png", png);
  file("closed/b.png", png);
  file("secret.png", png);
  ASSERT_EQ(::chmod(path("closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod(path("secret.png").c_str(), 0), 0);
  auto entries = list({folder_});
  ::chmod(path("closed").c_str(), 0700);
  EXPECT_THAT(relative(entries), ElementsAre("a.png", "closed", "secret.png"));
  EXPECT_THAT(entries[1].problem, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace fuseline::test
