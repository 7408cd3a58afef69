// libFuzzer on the reader of models and on the passes: whatever the bytes, the only way out but
// success is an Error. README.md tells how to run it.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fuseline/error.hpp"
#include "fuseline/onnx.hpp"
#include "fuzz_onnx/message_tree.hpp"
#include "passes/pipeline.hpp"

using namespace fuseline;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    OnnxModel model = OnnxModel::from_bytes({reinterpret_cast<const char*>(data), size});
    model.operators();
    model.outputs();
    if (!model.unsupported().empty()) return 0;
    Graph graph = run_passes(model.graph(model.defaults()), {});
    Graph::from_text(graph.to_text());
  } catch (const Error&) {
  }
  return 0;
}

// Changes fields of the message and keeps its lengths right; now and then plain bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  auto fields = testing::parse_fields({reinterpret_cast<const char*>(data), size});
  if (fields.empty() || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  auto change = [&](std::string text) {
    constexpr std::size_t room = 64;
    std::size_t length = text.size();
    text.resize(length + room);
    text.resize(
        LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), length, text.size()));
    return text;
  };
  for (unsigned n = random() % 3 + 1; n > 0; --n) testing::mutate(fields, random, change);
  std::string bytes = testing::to_bytes(fields);
  if (bytes.empty() || bytes.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
