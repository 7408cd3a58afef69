// fuseline mask on good pictures: values, names, JSON, batches.
#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Mask : public CliTest {
 protected:
  // Runs on one picture and compares the mask and the area with the definition.
  void expect_mask(const std::string& name, const Image& picture, int threshold) const {
    Outcome outcome =
        run({"mask", name, "--threshold", std::to_string(threshold), "--json", "-o", "out.png"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    Bytes expected =
        expected_mask(bytes_of(picture.pixels), static_cast<int>(picture.channels()), threshold);
    Image mask = read_image(path("out.png"));
    EXPECT_EQ(mask.width(), picture.width());
    EXPECT_EQ(mask.height(), picture.height());
    EXPECT_EQ(bytes_of(mask.pixels), expected);
    EXPECT_EQ(outcome.json()["images"][0]["area"], area_of(expected));
  }
};

TEST_F(Mask, KindsOfPictures) {
  std::map<std::string, Bytes> files;
  files["rgb.jpg"] = make_jpeg(gradient(30, 41, 3), 30, 41, {});
  files["gray.jpg"] = make_jpeg(gradient(30, 41, 1), 30, 41, {JCS_GRAYSCALE, 1, 1, 1});
  files["progressive.jpg"] = make_jpeg(gradient(30, 41, 3), 30, 41, {.progressive = true});
  files["rgb.png"] = make_png(gradient(30, 41, 3), 30, 41, {});
  files["rgba.png"] = make_png(gradient(30, 41, 4), 30, 41, {PNG_COLOR_TYPE_RGBA});
  files["gray.png"] = make_png(gradient(30, 41, 1), 30, 41, {PNG_COLOR_TYPE_GRAY});
  files["bits.png"] = make_png(noise(30 * 6), 30, 41, {PNG_COLOR_TYPE_GRAY, 1});
  PngOptions palette{PNG_COLOR_TYPE_PALETTE, 4};
  palette.palette = gradient(1, 16, 3);
  files["palette.png"] = make_png(noise(30 * 21), 30, 41, palette);
  for (const auto& [name, bytes] : files) {
    SCOPED_TRACE(name);
    file(name, bytes);
    expect_mask(name, read_image(path(name)), 100);
  }
}

TEST_F(Mask, SizesFromOnePixelUp) {
  for (int height : {1, 2, 17})
    for (int width : {1, 15, 16, 31, 257}) {
      SCOPED_TRACE(testing::Message() << height << " x " << width);
      file("in.png", make_png(gradient(height, width, 3), height, width, {}));
      expect_mask("in.png", read_image(path("in.png")), 127);
    }
}

TEST_F(Mask, ThresholdsToTheEnds) {
  png("in.png");
  Image picture = read_image(path("in.png"));
  for (int threshold : {0, 1, 254, 255}) expect_mask("in.png", picture, threshold);
}

TEST_F(Mask, OrientationIsHonored) {
  Bytes pixels = gradient(10, 16, 3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    PngOptions options;
    options.exif = exif_block(orientation, false);
    file("in.png", make_png(pixels, 10, 16, options));
    ASSERT_EQ(run({"mask", "in.png", "-o", "out.png"}).code, 0);
    EXPECT_EQ(bytes_of(read_image(path("out.png")).pixels),
              expected_mask(shown(pixels, 10, 16, 3, orientation), 3, 127));
  }
}

TEST_F(Mask, InvertedIsTheOpposite) {
  png("in.png");
  Bytes expected = expected_mask(bytes_of(read_image(path("in.png")).pixels), 3, 127);
  for (auto& value : expected) value = static_cast<std::uint8_t>(255 - value);
  Outcome outcome = run({"mask", "in.png", "--invert", "-o", "out.png", "--json"});
  EXPECT_EQ(bytes_of(read_image(path("out.png")).pixels), expected);
  EXPECT_EQ(outcome.json()["images"][0]["area"], area_of(expected));
}

TEST_F(Mask, GrayFormulasDiffer) {
  // One color for each pair of formulas that puts it on different sides of the threshold.
  file("in.png", make_png({0, 100, 0, 200, 0, 0}, 1, 2, {}));
  auto area = [&](const char* option, const char* mode) {
    return run({"mask", "in.png", "--area-only", "--json", "--threshold", "58", option, mode})
        .json()["images"][0]["area"];
  };
  EXPECT_EQ(area("--gray", "bt601_q15"), 2);  // 59 and 60
  EXPECT_EQ(area("--gray", "bt709"), 1);      // 72 and 43
  EXPECT_EQ(area("--grey", "bt601_q16"), 2);
}

TEST_F(Mask, OneBitMaskHoldsTheSame) {
  png("in.png", 9, 21);
  ASSERT_EQ(run({"mask", "in.png", "--bits", "1", "-o", "bits.png"}).code, 0);
  ASSERT_EQ(run({"mask", "in.png", "-o", "bytes.png"}).code, 0);
  EXPECT_EQ(bytes_of(path("bits.png"))[24], 1);  // the depth in the header
  EXPECT_EQ(bytes_of(read_image(path("bits.png")).pixels),
            bytes_of(read_image(path("bytes.png")).pixels));
}

TEST_F(Mask, FusionAndThreadsDoNotChangeTheAnswer) {
  jpeg("in.jpg", 50, 70);
  ASSERT_EQ(run({"mask", "in.jpg", "-o", "fused.png"}).code, 0);
  ASSERT_EQ(run({"mask", "in.jpg", "-o", "plain.png", "--fusion", "off", "--threads", "1"}).code,
            0);
  EXPECT_EQ(bytes_of(path("fused.png")), bytes_of(path("plain.png")));
}

TEST_F(Mask, JsonHasExactlyTheseKeys) {
  jpeg("good.jpg", 8, 12);
  file("bad.jpg", "no picture");
  Outcome outcome = run({"mask", "good.jpg", "bad.jpg", "-o", "out", "--json"});
  EXPECT_EQ(outcome.code, 1);
  auto keys = [](const nlohmann::json& object) {
    std::vector<std::string> names;
    for (const auto& item : object.items()) names.push_back(item.key());
    std::sort(names.begin(), names.end());
    return names;
  };
  nlohmann::json json = outcome.json();
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  EXPECT_THAT(keys(json), ElementsAre("failed", "images", "seconds"));
  const auto& image = json["images"].at(0);
  EXPECT_THAT(keys(image), ElementsAre("area", "file", "fraction", "height", "mask", "width"));
  EXPECT_EQ(image["file"], "good.jpg");
  EXPECT_EQ(image["width"], 12);
  EXPECT_EQ(image["height"], 8);
  EXPECT_EQ(image["mask"], "out/good.mask.png");
  EXPECT_DOUBLE_EQ(image["fraction"].get<double>(), image["area"].get<double>() / 96);
  EXPECT_THAT(keys(json["failed"].at(0)), ElementsAre("error", "file"));
  EXPECT_EQ(json["failed"][0]["file"], "bad.jpg");
  EXPECT_GT(json["seconds"].get<double>(), 0);
}

TEST_F(Mask, AreaOnlyWritesNothing) {
  jpeg("in.jpg");
  Outcome outcome = run({"mask", "in.jpg", "--area-only", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.json()["images"][0]["mask"].is_null());
  EXPECT_THAT(names(), ElementsAre("in.jpg"));
}

TEST_F(Mask, WritesBesideThePictureAndSaysSo) {
  jpeg("in.jpg", 8, 12);
  Outcome outcome = run({"mask", "in.jpg"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(
      outcome.out,
      testing::MatchesRegex("in\\.jpg: 12 x 8, area [0-9]+ \\([0-9.]+ %\\) -> in\\.mask\\.png\n"));
  EXPECT_THAT(names(), ElementsAre("in.jpg", "in.mask.png"));
}

TEST_F(Mask, FoldersAreMirrored) {
  png("pictures/a.png");
  jpeg("pictures/sub/deep/b.jpg");
  file("pictures/notes.txt", "passed over");
  Outcome outcome = run({"mask", "pictures", "-o", "masks/today"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("masks/today/a.mask.png")));
  EXPECT_TRUE(std::filesystem::exists(path("masks/today/sub/deep/b.mask.png")));
  EXPECT_THAT(outcome.out, HasSubstr("2 of 2 pictures in "));
}

TEST_F(Mask, MasksOfAnEarlierRunAreNoPictures) {
  png("pictures/a.png");
  png("pictures/b.png");
  EXPECT_EQ(run({"mask", "pictures"}).code, 0);
  Outcome again = run({"mask", "pictures", "--json"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.json()["images"].size(), 2u);
  // Named by the user, one is a picture like any other.
  EXPECT_EQ(run({"mask", "pictures/a.mask.png", "--json"}).json()["images"].size(), 1u);
}

TEST_F(Mask, AnExistingFolderOrASlashMakesOutputAFolder) {
  png("in.png");
  std::filesystem::create_directory(path("there"));
  EXPECT_EQ(run({"mask", "in.png", "-o", "there"}).code, 0);
  EXPECT_EQ(run({"mask", "in.png", "-o", "new/"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("there/in.mask.png")));
  EXPECT_TRUE(std::filesystem::exists(path("new/in.mask.png")));
}

TEST_F(Mask, BatchReportsInOrder) {
  std::vector<std::string> words = {"mask", "--json", "--area-only"};
  for (int i = 0; i < 24; ++i) {
    std::string name = "p" + std::to_string(i) + ".png";
    // Sizes that finish in another order than they start.
    png(name, 10 + 300 * (i % 3 == 0), 40);
    words.push_back(name);
  }
  nlohmann::json images = run(words).json()["images"];
  ASSERT_EQ(images.size(), 24u);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(images[i]["file"], "p" + std::to_string(i) + ".png");
}

TEST_F(Mask, NamesOfAnyBytes) {
  png("with space 'and' quote.png");
  file("bad\xff\nname.png", make_png(gradient(4, 4, 3), 4, 4, {}));
  Outcome outcome = run({"mask", "with space 'and' quote.png", "bad\xff\nname.png", "-o", "out"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("out/bad\xff\nname.mask.png")));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3) << outcome.out;
  EXPECT_FALSE(run({"mask", "bad\xff\nname.png", "--json", "--area-only"}).json().is_discarded());
}

TEST_F(Mask, NoColorInAPipe) {
  png("in.png");
  Outcome outcome = run({"mask", "in.png", "missing.png"});
  EXPECT_THAT(outcome.out + outcome.err, testing::Not(HasSubstr("\033")));
}

TEST_F(Mask, ProgressBarOnATerminal) {
  Bytes picture = make_png(noise(std::size_t{3} * 600 * 600), 600, 600, {});
  file("pictures/0.png", picture);
  for (int i = 1; i < 60; ++i)
    std::filesystem::create_hard_link(path("pictures/0.png"),
                                      path("pictures/" + std::to_string(i) + ".png"));
  std::string command = shell_word(program()) + " mask pictures --json --area-only";
  // script gives the program a terminal.
  std::string on_terminal = "TERM=xterm script -qec " + shell_word(command) + " -";
  Outcome colored = shell(on_terminal);
  EXPECT_EQ(colored.code, 0) << colored.err;
  EXPECT_THAT(colored.out, testing::ContainsRegex("[0-9]+/60 pictures, [0-9]+ s left"));
  EXPECT_THAT(colored.out, HasSubstr("\033[32m"));
  Outcome plain = shell("NO_COLOR=1 " + on_terminal);
  EXPECT_THAT(plain.out, testing::ContainsRegex("[0-9]+/60 pictures, [0-9]+ s left"));
  EXPECT_THAT(plain.out, testing::Not(HasSubstr("\033[32m")));
  EXPECT_THAT(shell(command).err, testing::Not(HasSubstr("\r")));
}

TEST_F(Mask, AccountShowsBothSpeedups) {
  jpeg("in.jpg", 300, 400);
  Outcome outcome = run({"mask", "in.jpg", "--account", "-o", "out.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"decode", "launch", "kernels", "encode", "end to end", "ceiling",
                           "fusion off, ", "fusion on, 1 kernel"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  nlohmann::json account =
      run({"mask", "in.jpg", "--account", "-o", "out.png", "--json"}).json()["account"];
  double ceiling = account["ceiling"]["value"];
  EXPECT_GE(ceiling, 1);
  EXPECT_GT(account["kernel_speedup"]["value"].get<double>(), 0);
  EXPECT_LE(account["end_to_end_speedup"]["low"].get<double>(),
            account["end_to_end_speedup"]["high"].get<double>());
}

}  // namespace
}  // namespace fuseline::test
