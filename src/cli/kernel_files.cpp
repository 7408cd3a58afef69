// Reading texts of bounded size, and writing new files only.
#include "cli/kernel_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/fail.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = 16u << 20;

std::string read_text(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) fail("{} is a folder", path);
  std::uintmax_t bytes = fs::file_size(path, error);
  if (error) fail("{} cannot be read: {}", path, error.message());
  if (bytes > most_bytes) fail("{} has {} bytes; at most {} are read", path, bytes, most_bytes);
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) fail("{} cannot be read: {}", path, std::strerror(errno));
  return text.str();
}

}  // namespace

Graph read_graph(const std::string& path) {
  std::string text = read_text(path);
  try {
    return Graph::from_text(text);
  } catch (const Error& error) {
    fail("{}: {}", path, error.what());
  }
}

std::string read_kernel_text(const std::string& path) {
  std::string text = read_text(path);
  if (text.find('\0') != text.npos) fail("{} is no text: it holds a zero byte", path);
  return text;
}

void write_new_file(const std::string& path, const std::string& text) {
  std::string temporary = path + ".new-" + std::to_string(::getpid());
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    fail("{} cannot be written: {}", path, why);
  }
  // Unlike a renaming, a link never replaces what is there.
  int result = ::link(temporary.c_str(), path.c_str()), why = errno;
  ::unlink(temporary.c_str());
  if (result == 0) return;
  if (why == EEXIST) fail("{} exists; a skeleton is only written to a new file", path);
  fail("{} cannot be written: {}", path, std::strerror(why));
}

}  // namespace fuseline::cli
