// Saved Programs: what comes back, and what is refused.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "fuseline/ops.hpp"
#include "fuseline/program.hpp"
#include "graph/support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class SavedPrograms : public ::testing::Test {
 protected:
  SavedPrograms() : folder_(fs::path(FUSELINE_BINARY_DIR) / "save_test") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Value x = graph_.input("x", DType::f32, {Dim::symbol("n"), 32});
    Value w = graph_.constant(tensor<float>({32, 32}, std::vector<float>(1024, 0.25f)));
    graph_.set_origin("layer one");
    Value y = relu(matmul(x, w) + 1);
    graph_.set_origin({});
    graph_.output("y", y);
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  static Program on_cpu(const Graph& graph, Precision precision = Precision::fp32) {
    return compile(graph, {.device = "cpu", .precision = precision});
  }
  static Tensor x(std::int64_t rows) {
    return tensor<float>({rows, 32}, std::vector<float>(static_cast<std::size_t>(rows * 32), 0.5f));
  }

  fs::path folder_;
  Graph graph_;
};

TEST_F(SavedPrograms, a_loaded_program_gives_the_same_results) {
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    Program program = on_cpu(graph_, precision);
    program.save(file("p"), {"two inputs\n", {{"note", x(1)}}});
    EXPECT_TRUE(is_saved_program(file("p")));
    SavedNotes notes;
    Program loaded = load_program(file("p"), {}, &notes);
    EXPECT_EQ(notes.text, "two inputs\n");
    ASSERT_EQ(notes.tensors.size(), 1u);
    EXPECT_EQ(elements<float>(notes.tensors[0].second), elements<float>(x(1)));
    EXPECT_EQ(loaded.graph().to_text(), program.graph().to_text());
    ASSERT_EQ(loaded.graph().nodes().size(), program.graph().nodes().size());
    for (std::size_t i = 0; i < loaded.graph().nodes().size(); ++i)
      EXPECT_EQ(loaded.graph().nodes()[i].origin, program.graph().nodes()[i].origin);
    for (std::int64_t rows : {1, 5})
      EXPECT_EQ(elements<float>(loaded.run({{"x", x(rows)}})[0]),
                elements<float>(program.run({{"x", x(rows)}})[0]));
  }
}

TEST_F(SavedPrograms, equal_programs_give_equal_bytes) {
  on_cpu(graph_).save(file("a"));
  on_cpu(graph_).save(file("b"));
  EXPECT_EQ(read(file("a")), read(file("b")));
  load_program(file("a")).save(file("c"));
  EXPECT_EQ(read(file("a")), read(file("c")));
}

TEST_F(SavedPrograms, any_changed_or_missing_byte_is_noticed) {
  on_cpu(graph_).save(file("p"));
  std::string bytes = read(file("p"));
  auto refused = [&](const std::string& changed) {
    write(file("q"), changed);
    return error_of([&] { load_program(file("q")); });
  };
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::string changed = bytes;
    std::size_t at = random() % changed.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    EXPECT_THAT(refused(changed), HasSubstr(file("q"))) << "byte " << at;
    EXPECT_THAT(refused(bytes.substr(0, at)), HasSubstr(file("q"))) << "first " << at;
  }
  EXPECT_THAT(refused(bytes + "x"), HasSubstr("damaged"));
  EXPECT_THAT(refused(""), HasSubstr("not a compiled model"));
  std::string newer = bytes;
  newer[8] = 2;
  EXPECT_THAT(refused(newer), HasSubstr("format 2, but this Fuseline reads format 1"));
}

TEST_F(SavedPrograms, a_file_that_cannot_be_written_is_an_error) {
  EXPECT_THAT(error_of([&] { on_cpu(graph_).save(file("none/p")); }), HasSubstr("none/p"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(SavedPrograms, another_kind_of_device_is_refused) {
  on_cpu(graph_).save(file("p"));
  std::string bytes = read(file("p"));
  EXPECT_THAT(bytes, HasSubstr("\"device\":\"cpu\""));
  EXPECT_THAT(error_of([&] { load_program(file("no such file")); }), HasSubstr("no such file"));
}

}  // namespace
}  // namespace fuseline
