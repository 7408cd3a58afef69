// Pictures as inputs, lower precision, compiled models, and what explain and inspect tell.
#include "cli/model_support.hpp"

namespace fuseline::test {
namespace {

using ::testing::HasSubstr;

class ModelCommands : public ModelTest {
 protected:
  // y = x, in NCHW of a fixed size.
  static Parts picture_model(int type, const std::vector<std::int64_t>& dims) {
    Parts p;
    p.inputs = {value_info("image", type, dims)};
    p.outputs = {value_info("y", type, dims)};
    p.nodes = {node("Identity", {"image"}, {"y"})};
    return p;
  }

  // y = 2048 (x - 1), where x - 1 is lost in bf16: "first" rounds x, and "back" takes it rounded.
  static Parts layers() {
    Parts p;
    p.inputs = {value_info("x", float_type, {-1, 4})};
    p.outputs = {value_info("y", float_type, {-1, 4})};
    p.initializers = {matrix("one", 1), matrix("many", 1024), floats("minus", {-1.0f}),
                      floats("two", {2.0f})};
    p.nodes = {named(node("MatMul", {"x", "one"}, {"a"}), "first"),
               named(node("Add", {"a", "minus"}, {"b"}), "back"),
               named(node("MatMul", {"b", "many"}, {"c"}), "last"),
               named(node("Mul", {"c", "two"}, {"y"}), "scale")};
    return p;
  }

 private:
  // 4 x 4, the value on the diagonal.
  static Message matrix(const std::string& name, float value) {
    std::vector<float> values(16, 0);
    for (std::size_t i = 0; i < 16; i += 5) values[i] = value;
    std::string raw(reinterpret_cast<const char*>(values.data()), 4 * values.size());
    Message m;
    m.integer(1, 4).integer(1, 4).integer(2, float_type);
    return m.bytes(8, name).bytes(9, raw);
  }
  // A later name replaces an earlier one.
  static Message named(Message m, const std::string& name) { return m.bytes(3, name); }
};

TEST_F(ModelCommands, pictures_become_what_the_input_says) {
  png("p.png", 4, 6);
  write("float.onnx", picture_model(float_type, {1, 3, 4, 6}).model());
  Outcome same = run({"run", "float.onnx", "--input", "image=p.png"});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("image: p.png 6x4, RGB, pixel * 1/255, NCHW -> f32[1, 3, 4, 6]"));
  write("wide.onnx", picture_model(float_type, {1, 3, 8, 8}).model());
  EXPECT_THAT(run({"run", "wide.onnx", "--input", "p.png"}).out, HasSubstr("stretched to 8x8"));
  EXPECT_THAT(run({"run", "wide.onnx", "--input", "p.png", "--fit", "letterbox"}).out,
              HasSubstr("8x5 inside 8x8"));
  constexpr int byte_type = 2;
  write("byte.onnx", picture_model(byte_type, {4, -1, 3}).model());
  EXPECT_THAT(run({"run", "byte.onnx", "--input", "p.png"}).out, HasSubstr("y  u8[4, 6, 3]"));
  write("gray.onnx", picture_model(float_type, {1, 4, -1, 1}).model());
  EXPECT_THAT(run({"run", "gray.onnx", "--input", "p.png", "--scale", "1"}).out,
              HasSubstr("gray, pixel * 1, NHWC -> f32[1, 4, 6, 1]"));
}

TEST_F(ModelCommands, the_range_of_a_picture_is_as_told) {
  file("white.png", make_png(Bytes(12, 255), 2, 2, {}));
  write("m.onnx", picture_model(float_type, {1, 3, 2, 2}).model());
  nlohmann::json out = run({"run", "m.onnx", "--input", "white.png", "--scale", "2", "--mean",
                            "10,20,30", "--std", "5", "--json"})
                           .json();
  EXPECT_NEAR(out["outputs"][0]["max"].get<double>(), 100, 1e-4);
  EXPECT_NEAR(out["outputs"][0]["min"].get<double>(), 96, 1e-4);
  nlohmann::json plain = run({"run", "m.onnx", "--input", "white.png", "--json"}).json();
  EXPECT_NEAR(plain["outputs"][0]["max"].get<double>(), 1, 1e-6);
}

TEST_F(ModelCommands, pictures_that_do_not_fit_are_refused) {
  png("p.png", 4, 6);
  file("bad.png", Bytes{0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0});
  write("m.onnx", picture_model(float_type, {1, 3, 4, 6}).model());
  write("open.onnx", picture_model(float_type, {1, -1, -1, -1}).model());
  write("batch.onnx", picture_model(float_type, {2, 3, 4, 6}).model());
  write("deep.onnx", picture_model(float_type, {1, 16, 4, 3}).model());
  write("ids.onnx", picture_model(integer_type, {1, 3, 4, 6}).model());
  constexpr int byte_type = 2;
  write("byte.onnx", picture_model(byte_type, {1, 3, 4, 6}).model());
  struct Bad {
    std::vector<std::string> words;
    std::string part;
  };
  for (const Bad& bad : std::vector<Bad>{
           {{"m.onnx", "--input", "bad.png"}, "bad.png"},
           {{"open.onnx", "--input", "p.png"}, "--layout nchw or nhwc"},
           {{"batch.onnx", "--input", "p.png"}, "a batch of 2"},
           {{"deep.onnx", "--input", "p.png", "--layout", "nchw"}, "16 channels"},
           {{"ids.onnx", "--input", "p.png"}, "cannot be made of a picture"},
           {{"byte.onnx", "--input", "p.png", "--scale", "2"}, "for float inputs"},
           {{"m.onnx", "--input", "p.png", "--scale", "x"}, "--scale"},
           {{"m.onnx", "--input", "p.png", "--scale", "1/0"}, "divides by zero"},
           {{"m.onnx", "--input", "p.png", "--mean", "1,2"}, "2 numbers for 3 channels"},
           {{"m.onnx", "--input", "p.png", "--std", "0"}, "divides by zero"},
           {{"m.onnx", "--input", "p.png", "--fit", "strech"}, "did you mean stretch"}}) {
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), bad.words.begin(), bad.words.end());
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << bad.part;
    expect_one_line(outcome.err, bad.part);
  }
}

TEST_F(ModelCommands, verify_names_the_first_node_that_deviates) {
  write("m.onnx", layers().model());
  write("x.npy", npy({1.003f, 1.003f, 1.003f, 1.003f}, "1, 4"));
  Outcome fine = run({"verify", "m.onnx", "--input", "x.npy", "--nodes"});
  EXPECT_EQ(fine.code, 0) << fine.out << fine.err;
  EXPECT_THAT(fine.out, HasSubstr("max ULP"));
  EXPECT_THAT(fine.out, HasSubstr("nodes whose results are stored"));
  EXPECT_THAT(fine.out, HasSubstr("tolerance: atol 0.001 + rtol 0.001 x the reference"));
  Outcome low = run({"verify", "m.onnx", "--input", "x.npy", "--precision", "bf16"});
  EXPECT_EQ(low.code, 1) << low.out << low.err;
  EXPECT_THAT(low.out, HasSubstr("the first node that deviates: first: "));
}

TEST_F(ModelCommands, verify_suggests_the_nodes_to_keep) {
  write("m.onnx", layers().model());
  write("x.npy", npy({1.003f, 1.003f, 1.003f, 1.003f}, "1, 4"));
  std::vector<std::string> words = {"verify", "m.onnx", "--input", "x.npy",  "--precision",
                                    "bf16",   "--rtol", "0.02",    "--atol", "0.02"};
  std::vector<std::string> suggest = words;
  suggest.insert(suggest.end(), {"--suggest", "--json"});
  Outcome outcome = run(suggest);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("attempt 1: "));
  auto kept = outcome.json()["suggestion"]["keep_fp32"].get<std::vector<std::string>>();
  EXPECT_THAT(kept, ::testing::ElementsAre("first", "back")) << outcome.out;
  for (const std::string& name : kept) words.insert(words.end(), {"--keep-fp32", name});
  EXPECT_EQ(run(words).code, 0);
  words.resize(words.size() - 2);  // without one of them
  EXPECT_EQ(run(words).code, 1);
}

TEST_F(ModelCommands, precision_options_are_checked) {
  write("m.onnx", layers().model());
  auto refused = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), {"verify", "m.onnx"});
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2);
    expect_one_line(outcome.err, part);
  };
  refused({"--precision", "bf61"}, "did you mean bf16");
  refused({"--precision", "bf16", "--keep-fp32", "frist"}, "did you mean \"first\"");
  refused({"--keep-fp32", "last"}, "goes with --precision");
  refused({"--suggest"}, "add --precision");
  refused({"--size", "m=3"}, "the model has no size m");
  refused({"--size", "n"}, "write NAME=N");
}

TEST_F(ModelCommands, compiled_models_run_like_the_onnx_file) {
  write("m.onnx", layers().model());
  write("x.npy", npy({1, 2, 3, 4, 5, 6, 7, 8}, "2, 4"));
  Outcome made = run({"compile", "m.onnx", "-o", "m.fuse"});
  EXPECT_EQ(made.code, 0) << made.err;
  Outcome from_onnx = run({"run", "m.onnx", "--input", "x.npy", "-o", "a.npz"});
  Outcome from_file = run({"run", "m.fuse", "--input", "x=x.npy", "-o", "b.npz"});
  EXPECT_EQ(from_file.code, 0) << from_file.err;
  EXPECT_EQ(from_onnx.out, from_file.out);
  EXPECT_EQ(text("a.npz"), text("b.npz"));
  run({"compile", "m.onnx", "-o", "again.fuse"});
  EXPECT_EQ(text("m.fuse"), text("again.fuse"));
  EXPECT_THAT(run({"inspect", "m.fuse"}).out, HasSubstr("compiled by fuseline"));
  std::string bytes = text("m.fuse");
  bytes[bytes.size() / 2] ^= 1;
  write("bad.fuse", bytes);
  for (const auto& [words, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"run", "bad.fuse", "--input", "x.npy"}, "damaged"},
           {{"run", "m.fuse", "--input", "x.npy", "--precision", "bf16"}, "was compiled"},
           {{"verify", "m.fuse"}, "needs the ONNX file"},
           {{"compile", "m.fuse", "-o", "n.fuse"}, "needs the ONNX file"},
           {{"compile", "m.onnx", "-o", "none/m.fuse"}, "none/m.fuse"}}) {
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << part;
    expect_one_line(outcome.err, part);
  }
}

// A model whose operand chooses axes is compiled for its value, and refuses others.
TEST_F(ModelCommands, compiled_models_know_the_values_that_shaped_them) {
  Parts p;
  p.inputs = {value_info("x", float_type, {2, 3}), value_info("axes", integer_type, {1})};
  p.outputs = {value_info("y", float_type, {-1})};
  p.nodes = {node("ReduceSum", {"x", "axes"}, {"y"}, {attribute("keepdims", std::int64_t{0})})};
  write("m.onnx", p.model());
  write("x.npy", npy({1, 2, 3, 4, 5, 6}, "2, 3"));
  auto axis = [&](const std::string& name, std::int64_t value) {
    std::string raw(reinterpret_cast<const char*>(&value), 8);
    write(name, Message().integer(1, 1).integer(2, integer_type).bytes(9, raw).str());
  };
  axis("one.pb", 1);
  axis("zero.pb", 0);
  Outcome without = run({"compile", "m.onnx", "-o", "m.fuse"});
  EXPECT_EQ(without.code, 2);
  expect_one_line(without.err, "input axes decides shapes");
  EXPECT_EQ(run({"compile", "m.onnx", "--input", "axes=one.pb", "-o", "m.fuse"}).code, 0);
  EXPECT_THAT(run({"run", "m.fuse", "--input", "x=x.npy", "--input", "axes=one.pb"}).out,
              HasSubstr("y  f32[2]  min 6"));
  Outcome other = run({"run", "m.fuse", "--input", "x=x.npy", "--input", "axes=zero.pb"});
  EXPECT_EQ(other.code, 2);
  expect_one_line(other.err, "compiled for another value");
}

TEST_F(ModelCommands, explain_tells_steps_memory_and_cost) {
  write("m.onnx", layers().model());
  Outcome outcome = run({"explain", "m.onnx", "--size", "n=10"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("x f32[10, 4]"));
  EXPECT_THAT(outcome.out, HasSubstr("x the live-set bound"));
  EXPECT_THAT(outcome.out, HasSubstr("contractions  640 FLOP a run"));
  EXPECT_THAT(outcome.out, HasSubstr("nodes       "));
  EXPECT_THAT(outcome.out, HasSubstr("last"));
  nlohmann::json json = run({"explain", "m.onnx", "--size", "n=10", "--json"}).json();
  EXPECT_EQ(json["contraction_flop"], 640);
  EXPECT_GE(json["memory"]["arena_bytes"], json["memory"]["live_set_bound_bytes"]);
  EXPECT_EQ(json["steps"].size(),
            json["library_calls"].get<std::size_t>() + json["regions"].get<std::size_t>());
  Outcome nothing = run({"explain"});
  EXPECT_EQ(nothing.code, 2);
  expect_one_line(nothing.err, "name the command mask, or a model file");
}

TEST_F(ModelCommands, inspect_counts_parameters_and_operations) {
  write("m.onnx", layers().model());
  Outcome outcome = run({"inspect", "m.onnx", "--size", "n=5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("y  f32[n, 4]"));
  EXPECT_THAT(outcome.out, HasSubstr("32 parameters"));
  EXPECT_THAT(outcome.out, HasSubstr("2 contractions, 320 FLOP"));
  EXPECT_THAT(outcome.out, HasSubstr("64*n"));
  EXPECT_THAT(run({"inspect", "m.onnx", "--precision", "bf16", "--keep-fp32", "back"}).out,
              HasSubstr("bf16 in 3 nodes, fp32 in 1: back"));
}

}  // namespace
}  // namespace fuseline::test
