// Dump files of the pass pipeline.
#include "passes/dump.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/env.hpp"
#include "base/fail.hpp"

namespace fuseline {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, path, error);
  if (!out || error) fail("{}: {} cannot be written", name_of(EnvVar::dump), path.string());
}

}  // namespace

GraphDump::GraphDump() : folder_(env(EnvVar::dump)) {
  static std::atomic<int> compilations{0};
  if (!folder_) return;
  compilation_ = compilations++;
  std::error_code error;
  std::filesystem::create_directories(*folder_, error);
  if (error) fail("{}: folder {}: {}", name_of(EnvVar::dump), *folder_, error.message());
}

void GraphDump::write(std::string_view pass, const Graph& graph) {
  if (!folder_) return;
  std::string text = graph.to_text();
  std::string name = fmt::format("graph{}_{:02}_{}.txt", compilation_, step_++, pass);
  write_file(std::filesystem::path(*folder_) / name, text == last_ ? "unchanged\n" : text);
  last_ = std::move(text);
}

}  // namespace fuseline
