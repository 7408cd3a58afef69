// Damaged, hostile and unsupported models: one Error that names the place, never a crash.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "fuseline/onnx.hpp"
#include "graph/support.hpp"
#include "model_bytes.hpp"

namespace fuseline {
namespace {

using namespace testing;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A small model with most kinds of fields.
Parts sample() {
  Parts p;
  p.inputs = {value_info("x", float_type, {-1, 3})};
  p.outputs = {value_info("y", float_type, {-1, 3})};
  p.initializers = {floats("w", {1, 2, 3}), integers("to", {-1, 3})};
  p.nodes = {node("Mul", {"x", "w"}, {"a"}), node("Softmax", {"a"}, {"b"}, {attribute("axis", 1)}),
             node("Reshape", {"b", "to"}, {"y"})};
  return p;
}

std::string problem(const Parts& p) {
  return error_of([&] { OnnxModel::from_bytes(p.model()).graph(); });
}

// Reads it; the only way out but success is an Error.
void try_to_read(const std::string& bytes) {
  try {
    OnnxModel::from_bytes(bytes).graph();
  } catch (const Error&) {
  }
}

TEST(BadModel, the_sample_itself_is_fine) {
  EXPECT_EQ(OnnxModel::from_bytes(sample().model()).graph().outputs().size(), 1u);
}

TEST(BadModel, every_truncation) {
  std::string bytes = sample().model();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NO_FATAL_FAILURE(try_to_read(bytes.substr(0, length)));
}

TEST(BadModel, changed_and_random_bytes) {
  std::string bytes = sample().model();
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string changed = bytes;
    for (unsigned n = random() % 4 + 1; n > 0; --n)
      changed[random() % changed.size()] = static_cast<char>(random());
    EXPECT_NO_FATAL_FAILURE(try_to_read(changed));
  }
  for (int round = 0; round < 2000; ++round) {
    std::string noise(random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_NO_FATAL_FAILURE(try_to_read(noise));
  }
}

TEST(BadModel, not_a_model) {
  EXPECT_THAT(error_of([] { OnnxModel::from_bytes(""); }), HasSubstr("it has no graph"));
  EXPECT_THAT(error_of([] { OnnxModel::from_bytes("\x89PNG\r\n\x1a\n"); }),
              HasSubstr("this is no ONNX model"));
  EXPECT_THAT(error_of([] { OnnxModel::open("no such file.onnx"); }),
              HasSubstr("no such file.onnx"));
}

TEST(BadModel, cycles_and_missing_values) {
  Parts p = sample();
  p.nodes = {node("Add", {"x", "later"}, {"y"}), node("Relu", {"y"}, {"later"})};
  EXPECT_EQ(problem(p), "the_Add (Add): its operand \"later\" is made by no earlier node");
  p.nodes = {node("Relu", {"x"}, {"other"})};
  EXPECT_EQ(problem(p), "output y: no node makes it");
}

TEST(BadModel, all_that_is_not_supported_is_told_at_once) {
  Parts p = sample();
  p.nodes = {node("Frobnicate", {"x"}, {"a"}), node("Relu", {"a"}, {"b"}, {}, "com.example"),
             node("Relu", {"b"}, {"y"})};
  std::string text = problem(p);
  EXPECT_THAT(text, HasSubstr("the_Frobnicate (Frobnicate)"));
  EXPECT_THAT(text, HasSubstr("the_Relu (com.example.Relu): domain \"com.example\""));
  EXPECT_EQ(OnnxModel::from_bytes(p.model()).unsupported().size(), 2u);
}

TEST(BadModel, wrong_types_and_attributes) {
  Parts p = sample();
  p.nodes = {node("Add", {"x", "to"}, {"y"})};
  EXPECT_THAT(problem(p), HasSubstr("the_Add (Add): add: operands of types f32 and i64"));
  p.nodes = {node("Softmax", {"x"}, {"y"}, {attribute("axis", "one")})};
  EXPECT_THAT(problem(p), HasSubstr("the_Softmax (Softmax): attribute axis: a whole number"));
  p.nodes = {node("Softmax", {"x"}, {"y"}, {attribute("axis", 5)})};
  EXPECT_THAT(problem(p), HasSubstr("axis 5 of a tensor with 2 axes"));
  p = sample();
  p.outputs = {value_info("y", integer_type, {-1, 3})};
  EXPECT_THAT(problem(p), HasSubstr("output y: declared as int64, its node makes float32"));
  p.inputs = {value_info("x", 8, {3})};
  EXPECT_THAT(problem(p), HasSubstr("input x: element type string is not supported"));
  p = sample();
  p.opset = 999;
  EXPECT_THAT(problem(p), HasSubstr("opset 999 of ai.onnx; this version reads"));
}

TEST(BadModel, sizes_are_checked_before_they_are_used) {
  Parts p = sample();
  std::int64_t huge = std::int64_t{1} << 40;
  Message big;
  big.integer(1, huge).integer(1, huge).integer(2, float_type).bytes(8, "w").bytes(9, "abcd");
  p.initializers[0] = big;
  EXPECT_THAT(problem(p), HasSubstr("tensor w: "));
  Message negative;
  negative.integer(1, -4).integer(2, float_type).bytes(8, "w").bytes(9, "");
  p.initializers[0] = negative;
  EXPECT_THAT(problem(p), HasSubstr("tensor w: its shape [-4] has a negative size"));
  Message missing;
  missing.integer(1, huge).integer(2, float_type).bytes(8, "w");
  p.initializers[0] = missing;
  EXPECT_THAT(problem(p), HasSubstr("tensor w: 0 elements of data"));
  p = sample();
  p.initializers[1] = integers("to", {huge, huge});
  EXPECT_THAT(problem(p), HasSubstr("(Reshape)"));
  p.initializers[1] = integers("to", {-1, -1});
  EXPECT_THAT(problem(p), HasSubstr("more than one size of -1"));
}

TEST(BadModel, graphs_inside_each_other_have_a_limit) {
  Message inner;
  for (int depth = 0; depth < 200; ++depth) {
    Message branch = Message().bytes(1, "then_branch").message(6, inner).integer(20, 5);
    inner = Message().message(1, node("If", {"x"}, {"y"}, {branch}));
  }
  std::string model = Message().integer(1, 8).message(7, inner).str();
  EXPECT_THAT(error_of([&] { OnnxModel::from_bytes(model); }), HasSubstr("nested deeper"));
}

// ---- external data

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("fuseline-external-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "model");
    write("secret.bin", std::string(12, 's'));
    write("model/w.bin", std::string(12, '\0'));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  // What reading tells when the weights are said to be there; empty when nothing is wrong.
  std::string told(const std::string& location, const std::string& offset = "0",
                   const std::string& length = "12") const {
    Parts p = sample();
    Message w;
    w.integer(1, 3).integer(2, float_type).bytes(8, "w").integer(14, 1);
    auto entry = [&](const std::string& key, const std::string& value) {
      w.message(13, Message().bytes(1, key).bytes(2, value));
    };
    entry("location", location);
    entry("offset", offset);
    entry("length", length);
    p.initializers[0] = w;
    write("model/m.onnx", p.model());
    try {
      OnnxModel::open((folder_ / "model/m.onnx").string()).graph();
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  fs::path folder_;
};

TEST_F(ExternalData, is_read_from_the_models_folder) { EXPECT_EQ(told("w.bin"), ""); }

TEST_F(ExternalData, never_leaves_that_folder) {
  EXPECT_THAT(told("../secret.bin"), HasSubstr("outside the model's folder"));
  EXPECT_THAT(told((folder_ / "secret.bin").string()), HasSubstr("outside the model's folder"));
  EXPECT_THAT(told("sub/../../secret.bin"), HasSubstr("outside the model's folder"));
  fs::create_symlink("../secret.bin", folder_ / "model/link.bin");
  EXPECT_THAT(told("link.bin"), HasSubstr("outside the model's folder"));
}

TEST_F(ExternalData, must_be_there_and_long_enough) {
  EXPECT_THAT(told("none.bin"), HasSubstr("none.bin"));
  EXPECT_THAT(told("w.bin", "4"), HasSubstr("bytes 4 to 16 of w.bin, which has 12"));
  EXPECT_THAT(told("w.bin", "18446744073709551615"), HasSubstr("of w.bin, which has 12"));
  EXPECT_THAT(told("w.bin", "x"), HasSubstr("offset \"x\" is no number"));
  EXPECT_THAT(told("w.bin", "0", "8"), HasSubstr("8 bytes of data, f32[3] needs 12"));
}

}  // namespace
}  // namespace fuseline
