// Foreign kernels on the host simulator, each run in a child process: a wild pointer or an endless
// loop ends the child only.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/fail.hpp"
#include "emit/cuda_c/host/host.hpp"
#include "foreign/runner.hpp"

namespace fuseline::foreign {
namespace {

constexpr const char prelude[] =
#include "foreign/host_prelude.inc"
    ;
constexpr unsigned longest_seconds = 60;
constexpr std::size_t report_bytes = 4096;

// "unsigned char" out of "const unsigned char*".
std::string element_type(const Argument& argument) {
  std::string type = pointer_type(argument);
  type.pop_back();
  return type;
}

// The function that the simulator calls: it notes the memory and calls the kernel.
std::string entry_text(const Contract& contract, const LaunchWish& wish) {
  std::string parameters, notes, arguments;
  for (std::size_t i = 0; i < contract.arguments.size(); ++i) {
    parameters += fmt::format("Pointer<{}, false> p{}, ", element_type(contract.arguments[i]), i);
    notes += fmt::format("  fuseline_place({0}, p{0});\n", i);
    arguments += fmt::format("{}p{}.data", i ? ", " : "", i);
  }
  for (std::size_t i = 0; i < contract.sizes.size(); ++i) {
    parameters += fmt::format("int n{}, ", i);
    arguments += fmt::format(", n{}", i);
  }
  return fmt::format(
      "static void fuseline_entry({}int grid_x, int grid_y) {{\n{}"
      "  fuseline_width_x = {};\n  fuseline_height_y = {};\n"
      "  fuseline_grid_x = grid_x;\n  fuseline_grid_y = grid_y;\n  {}({});\n}}\n",
      parameters, notes, wish.threads_x, wish.threads_y ? wish.threads_y : 1, contract.kernel,
      arguments);
}

host::CompileOptions checked_options() {
  host::CompileOptions options;
  options.text_of_user = true;
  // Without optimization, since that would drop accesses that the text makes.
  options.flags = {"-O0",     "-fsanitize=kernel-address",
                   "--param", "asan-instrumentation-with-call-threshold=0",
                   "--param", "asan-stack=0",
                   "--param", "asan-globals=0"};
  return options;
}

class HostRunner final : public Runner {
 public:
  HostRunner(std::vector<host::Source> sources, int threads)
      : kernels_(std::move(sources), checked_options()), threads_(threads) {
    void* memory =
        mmap(nullptr, report_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("kernel check: no memory for a report: {}", strerror(errno));
    report_ = static_cast<char*>(memory);
  }
  HostRunner(const HostRunner&) = delete;
  HostRunner& operator=(const HostRunner&) = delete;
  ~HostRunner() override { munmap(report_, report_bytes); }

  std::string name() const override { return "the host simulator"; }
  // The other runs would take as long.
  bool is_lost() const override { return endless_; }

  std::string run(std::vector<Buffer>& buffers, const ForeignLaunch& launch) override {
    report_[0] = '\0';
    pid_t child = fork();
    if (child < 0) fail("kernel check: no process for a run: {}", strerror(errno));
    if (child == 0) run_in_child(buffers, launch);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
      if (errno != EINTR) fail("kernel check: a run was lost: {}", strerror(errno));
    if (report_[0]) return report_;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
      endless_ = true;
      return fmt::format("did not come to its end within {} s", longest_seconds);
    }
    if (WIFSIGNALED(status))
      return fmt::format("crashed ({}): an access far outside every buffer, or a fault of the code",
                         strsignal(WTERMSIG(status)));
    return {};
  }

 private:
  [[noreturn]] void run_in_child(const std::vector<Buffer>& buffers,
                                 const ForeignLaunch& launch) const {
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGINT, SIGTERM})
      std::signal(number, SIG_DFL);
    alarm(longest_seconds);
    std::string fault;
    try {
      fault = simulate(buffers, launch);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    std::size_t length = std::min(fault.size(), report_bytes - 1);
    std::memcpy(report_, fault.data(), length);
    report_[length] = '\0';
    _exit(0);
  }

  std::string simulate(const std::vector<Buffer>& buffers, const ForeignLaunch& launch) const {
    std::vector<host::Span> spans;
    for (const Buffer& buffer : buffers)
      spans.push_back({buffer.data(), element_count(buffer.shape())});
    std::vector<std::uint64_t> params;
    for (int size : launch.sizes) params.push_back(static_cast<std::uint32_t>(size));
    params.push_back(static_cast<std::uint64_t>(launch.grid.x));
    params.push_back(static_cast<std::uint64_t>(launch.grid.y));
    std::string fault =
        kernels_.run(0, spans, params, launch.grid.blocks(), launch.order, threads_);
    constexpr std::string_view own = "fuseline_entry: ";
    return fault.starts_with(own) ? fault.substr(own.size()) : fault;
  }

  host::Kernels kernels_;
  int threads_;
  char* report_ = nullptr;
  bool endless_ = false;
};

}  // namespace

std::unique_ptr<Runner> make_host_runner(const std::string& text, const std::string& file,
                                         const Contract& contract, const LaunchWish& wish) {
  if (std::string missing = host::compiler_missing(); !missing.empty())
    fail_device("a kernel cannot be run without a GPU: {}; install g++", missing);
  host::Source source;
  source.name = "fuseline_entry";
  source.body = prelude + framed(text, file, contract) + entry_text(contract, wish);
  source.threads = wish.threads();
  for (const Argument& argument : contract.arguments) source.buffers.push_back(argument.name);
  std::vector<host::Source> sources;
  sources.push_back(std::move(source));
  return std::make_unique<HostRunner>(std::move(sources), wish.threads());
}

}  // namespace fuseline::foreign
