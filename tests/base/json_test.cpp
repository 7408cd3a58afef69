// The JSON writer: key order, numbers that JSON lacks, bytes that are not UTF-8.
#include "base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fuseline/error.hpp"

namespace fuseline {
namespace {

TEST(Json, KeysKeepTheirOrder) {
  Json value;
  value["width"] = 2;
  value["area"] = 1;
  value["height"] = 3;
  EXPECT_EQ(json_text(value, -1), R"({"width":2,"area":1,"height":3})");
}

TEST(Json, NumbersThatJsonLacksBecomeNull) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Json value = {{"nan", std::numeric_limits<double>::quiet_NaN()},
                {"up", infinity},
                {"down", -infinity},
                {"half", 0.5}};
  EXPECT_EQ(json_text(value, -1), R"({"nan":null,"up":null,"down":null,"half":0.5})");
}

TEST(Json, FileNamesOfAnyBytesStayValid) {
  Json value = {{"file", "caf\xe9.jpg"}, {"good", "caf\xc3\xa9.jpg"}};
  std::string text = json_text(value, -1);
  EXPECT_EQ(text, "{\"file\":\"caf\xef\xbf\xbd.jpg\",\"good\":\"caf\xc3\xa9.jpg\"}");
  EXPECT_TRUE(Json::accept(text));
}

TEST(Json, PrintingToAFullDeviceIsAnError) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (!full) GTEST_SKIP() << "this system has no /dev/full";
  EXPECT_THROW(print_json(Json{{"a", 1}}, full), Error);
  std::fclose(full);
}

TEST(Json, PrintsTheTextAndANewline) {
  std::FILE* file = std::tmpfile();
  ASSERT_TRUE(file);
  print_json(Json{{"a", 1}}, file);
  std::rewind(file);
  char buffer[64] = {};
  std::size_t size = std::fread(buffer, 1, sizeof buffer, file);
  std::fclose(file);
  EXPECT_EQ(std::string(buffer, size), "{\n  \"a\": 1\n}\n");
}

}  // namespace
}  // namespace fuseline
