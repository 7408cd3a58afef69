// The system's C++ compiler.
#include "emit/cuda_c/host/compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/fail.hpp"

extern char** environ;

namespace fuseline::host {
namespace {

namespace fs = std::filesystem;

// A private folder that goes with its owner.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "fuseline-host-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      fail_device("cannot make a folder like {}: {}", pattern, std::strerror(errno));
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;  // a folder left behind harms nobody
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// The exit status; -1 where the program does not start. Output goes to `log`.
int run_program(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid = 0;
  int failed = posix_spawnp(&pid, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string first_lines(const fs::path& file, int count) {
  std::ifstream in(file);
  std::string text;
  for (std::string line; count-- > 0 && std::getline(in, line);) text += line + "\n";
  return text;
}

std::string find_compiler() {
  for (const char* name : {"g++", "c++", "clang++"})
    if (run_program({name, "--version"}, "/dev/null") == 0) return name;
  return {};
}

}  // namespace

const std::string& compiler_name() {
  static const std::string name = find_compiler();
  return name;
}

SharedObject::~SharedObject() {
  if (handle) dlclose(handle);
}

void* SharedObject::symbol(const char* name) const {
  void* address = dlsym(handle, name);
  require(address != nullptr, "a compiled host text lacks a symbol");
  return address;
}

std::string compile_and_open(SharedObject& object, const std::string& source,
                      const std::vector<std::string>& flags) {
  if (compiler_name().empty())
    fail_device("no C++ compiler (g++, c++, clang++) is in PATH; install g++");
  ScratchFolder folder;
  std::string text = (folder / "kernels.cpp").string(), library = (folder / "kernels.so").string();
  std::ofstream out(text, std::ios::binary);
  out << source;
  out.close();
  if (!out) fail_device("cannot write {}; is the disk full?", text);
  std::vector<std::string> command = {compiler_name(),
                                      "-x",
                                      "c++",
                                      "-std=c++17",
                                      "-O1",
                                      "-shared",
                                      "-fPIC",
                                      "-ffp-contract=off",
                                      "-fvisibility=hidden",
                                      "-w"};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-o", library, text});
  std::string log = (folder / "log").string();
  if (int status = run_program(command, log); status != 0)
    return fmt::format("{} rejects a host text (status {}):\n{}", compiler_name(), status,
                       first_lines(log, 30));
  object.handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object.handle) fail_device("cannot open a compiled host text: {}", dlerror());
  return {};
}

}  // namespace fuseline::host
