// The fuzzer's corpus and what it found: every file is read, or refused with an Error.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuseline/error.hpp"
#include "fuseline/onnx.hpp"
#include "passes/pipeline.hpp"

namespace fuseline {
namespace {

namespace fs = std::filesystem;

int read_all(const fs::path& folder) {
  int read = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream in(entry.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    try {
      OnnxModel model = OnnxModel::from_bytes(bytes);
      Graph graph = run_passes(model.graph(model.defaults()), {});
      EXPECT_EQ(Graph::from_text(graph.to_text()).to_text(), graph.to_text());
      ++read;
    } catch (const Error&) {
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  return read;
}

TEST(Corpus, cases_are_read) {
  EXPECT_GT(read_all(FUSELINE_SOURCE_DIR "/tests/fuzz_onnx/corpus"), 100);
}

TEST(Corpus, finds_are_refused_or_read) { read_all(FUSELINE_SOURCE_DIR "/tests/fuzz_onnx/finds"); }

}  // namespace
}  // namespace fuseline
