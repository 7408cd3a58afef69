// run, inspect and verify on small models.
#include "cli/model_support.hpp"

namespace fuseline::test {
namespace {

using namespace fuseline::testing;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

class Models : public ModelTest {};

TEST_F(Models, run_writes_what_numpy_reads) {
  write("m.onnx", model().model());
  write("x.npy", npy({1, 1, 1, 2, 2, 2}, "2, 3"));
  Outcome outcome = run({"run", "m.onnx", "--input", "x=x.npy", "-o", "out.npz"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("y  f32[2, 3]  min 1.5"));
  std::vector<float> expected = {1.5f, 2, 3, 2.5f, 4, 6};
  std::string archive = text("out.npz");
  EXPECT_THAT(archive, HasSubstr(std::string("PK\x03\x04", 4)));
  EXPECT_THAT(archive, HasSubstr("y.npy"));
  EXPECT_THAT(archive, HasSubstr(std::string(reinterpret_cast<const char*>(expected.data()), 24)));
  // An archive of ours is an input like any other.
  Parts again = model();
  again.inputs = {value_info("y", float_type, {-1, 3})};
  again.outputs = {value_info("z", float_type, {-1, 3})};
  again.nodes = {node("Mul", {"y", "w"}, {"z"})};
  write("again.onnx", again.model());
  EXPECT_THAT(run({"run", "again.onnx", "--input", "out.npz"}).out,
              HasSubstr("z  f32[2, 3]  min 1.5  mean"));
}

TEST_F(Models, wrong_inputs_are_named) {
  write("m.onnx", model().model());
  write("x.npy", npy({1, 1, 1, 2, 2, 2}, "2, 3"));
  write("short.npy", npy({1, 1}, "2, 3"));
  write("flat.npy", npy({1, 1, 1}, "3,"));
  struct Bad {
    std::vector<std::string> words;
    std::string part;
  };
  for (const Bad& bad :
       std::vector<Bad>{{{"run", "none.onnx"}, "none.onnx"},
                        {{"run", "x.npy"}, "this is no ONNX model"},
                        {{"run", "m.onnx"}, "input x is missing"},
                        {{"run", "m.onnx", "--input", "z=x.npy"}, "the model has no input \"z\""},
                        {{"run", "m.onnx", "--input", "x=short.npy"}, "needs more"},
                        {{"run", "m.onnx", "--input", "x=flat.npy"}, "1 axes received"},
                        {{"run", "m.onnx", "--input", "x=m.onnx"}, "not a NumPy array"},
                        {{"run", "m.onnx", "--input", "m.npz"}, "m.npz"}}) {
    Outcome outcome = run(bad.words);
    EXPECT_EQ(outcome.code, 2);
    expect_one_line(outcome.err, bad.part);
  }
}

TEST_F(Models, inspect_tells_what_is_missing) {
  write("m.onnx", model().model());
  Outcome fine = run({"inspect", "m.onnx"});
  EXPECT_EQ(fine.code, 0);
  EXPECT_THAT(fine.out, HasSubstr("x  float32[n, 3]"));
  EXPECT_THAT(fine.out, HasSubstr("Add 1, Mul 1"));
  Parts other = model();
  other.nodes.push_back(node("Frobnicate", {"y"}, {"q"}));
  write("other.onnx", other.model());
  Outcome missing = run({"inspect", "other.onnx"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out, HasSubstr("the_Frobnicate (Frobnicate): no such operator"));
}

TEST_F(Models, verify_compares_with_the_unfused_program_and_with_expected_outputs) {
  write("m.onnx", model().model());
  Outcome fused = run({"verify", "m.onnx"});
  EXPECT_EQ(fused.code, 0) << fused.err;
  EXPECT_THAT(fused.out, HasSubstr("ok      y: max abs"));
  std::filesystem::create_directories(folder_ / "case/test_data_set_0");
  write("case/model.onnx", model().model());
  write("case/test_data_set_0/input_0.pb", tensor_pb({1, 1, 1}));
  write("case/test_data_set_0/output_0.pb", tensor_pb({1.5f, 2, 3}));
  EXPECT_EQ(run({"verify", "case"}).code, 0);
  write("case/test_data_set_0/output_0.pb", tensor_pb({1.5f, 2, 4}));
  Outcome wrong = run({"verify", "case"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("1 outside, the first at 2: 3 instead of 4"));
}

TEST_F(Models, diagnose_takes_runs_apart) {
  write("m.onnx", model().model());
  write("x.npy", npy(std::vector<float>(32 * 3, 1.5f), "32, 3"));
  Words words = {"diagnose", "--seconds", "0.3",     "--runs",  "3",  "--json", "--",
                 "run",      "m.onnx",    "--input", "x=x.npy", "-o", "out.npz"};
  Outcome outcome = run(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  nlohmann::json json = outcome.json();
  EXPECT_EQ(json["null_kernels"]["of"], "run");
  EXPECT_GT(json["null_kernels"]["no_kernels_frame_ms"]["value"].get<double>(), 0);
  EXPECT_EQ(json["gain_of_fusion"]["launches_after"], 1);
  ASSERT_EQ(json["sweep"]["sizes"].size(), 3u) << json["sweep"];
  EXPECT_EQ(json["sweep"]["sizes"][0]["size"], "[8, 3]");
  EXPECT_EQ(json["sweep"]["sizes"][2]["size"], "[32, 3]");
  std::string stages;
  for (const auto& row : json["account"]) stages += row["name"].get<std::string>() + ";";
  for (const char* stage : {"read model", "load kernels", "kernels", "write outputs"})
    EXPECT_THAT(stages, HasSubstr(stage));
  // One size only.
  Parts fixed = model();
  fixed.inputs = {value_info("x", float_type, {32, 3})};
  write("m.onnx", fixed.model());
  json = run(words).json();
  EXPECT_THAT(json["sweep"]["not_measured"].get<std::string>(), HasSubstr("one size only"));
}

}  // namespace
}  // namespace fuseline::test
