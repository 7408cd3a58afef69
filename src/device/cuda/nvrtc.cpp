// NVRTC: its symbols, and one compilation.
#include "device/cuda/nvrtc.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/fail.hpp"
#include "device/cuda/library.hpp"
#include "device/cuda/nvrtc_api.hpp"

namespace fuseline::cuda {
namespace {

using namespace nvrtc_api;

constexpr const char* library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                         "libnvrtc.so"};

struct Api {
  Library library{library_names};
#define FUSELINE_NVRTC_MEMBER(member, symbol, parameters) member##_fn* member = nullptr;
  FUSELINE_NVRTC_SYMBOLS(FUSELINE_NVRTC_MEMBER)
#undef FUSELINE_NVRTC_MEMBER

  Api() {
#define FUSELINE_NVRTC_RESOLVE(member, symbol, parameters) library.resolve(member, #symbol);
    FUSELINE_NVRTC_SYMBOLS(FUSELINE_NVRTC_RESOLVE)
#undef FUSELINE_NVRTC_RESOLVE
  }
};

const Api& loaded() {
  static const Api api;
  return api;
}

const Api& usable() {
  const Api& api = loaded();
  if (!api.library) fail_device("NVRTC cannot be used: {}", api.library.reason());
  return api;
}

void check(Result result, const char* what) {
  if (result != success) fail_device("NVRTC: {} failed with error {}", what, result);
}

class ProgramOwner {
 public:
  ProgramOwner(const Api& api, const std::string& source, const std::string& name) : api_(api) {
    check(api.create(&program_, source.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr),
          "creating a program");
  }
  ProgramOwner(const ProgramOwner&) = delete;
  ProgramOwner& operator=(const ProgramOwner&) = delete;
  ~ProgramOwner() { api_.destroy(&program_); }
  Program get() const { return program_; }

  // Two calls: the size with the terminating zero, then the bytes.
  template <class Size, class Get>
  std::string text(Size* size, Get* read, const char* what) const {
    std::size_t bytes = 0;
    check(size(program_, &bytes), what);
    std::string out(bytes, '\0');
    if (bytes > 0) check(read(program_, out.data()), what);
    return out;
  }

 private:
  const Api& api_;
  Program program_ = nullptr;
};

std::string without_end(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

}  // namespace

std::string nvrtc_missing() { return loaded().library.reason(); }

std::string nvrtc_version() {
  int major = 0, minor = 0;
  check(usable().version(&major, &minor), "asking for its version");
  return fmt::format("{}.{} ({})", major, minor, loaded().library.path());
}

std::vector<std::string> other_nvrtc_copies() {
  std::vector<std::string> copies = library_copies(library_names);
  for (const std::string& used : loaded_libraries("libnvrtc.so"))
    std::erase(copies, std::filesystem::weakly_canonical(used).string());
  return copies;
}

std::vector<int> nvrtc_architectures() {
  int count = 0;
  check(usable().arch_count(&count), "asking for its architectures");
  std::vector<int> archs(static_cast<std::size_t>(count));
  check(usable().archs(archs.data()), "asking for its architectures");
  return archs;
}

std::optional<std::string> nvrtc_architecture_for(int sm) {
  std::vector<int> known = nvrtc_architectures();
  if (std::binary_search(known.begin(), known.end(), sm)) return fmt::format("sm_{}", sm);
  auto below = std::upper_bound(known.begin(), known.end(), sm);
  if (below == known.begin()) return std::nullopt;
  return fmt::format("compute_{}", *std::prev(below));
}

CompileResult try_compile_cuda(const std::string& source, const std::string& name,
                               const std::string& arch, std::span<const char* const> options) {
  const Api& api = usable();
  auto start = std::chrono::steady_clock::now();
  ProgramOwner program(api, source, name);
  std::string arch_option = "--gpu-architecture=" + arch;
  std::vector<const char*> all = {arch_option.c_str()};
  all.insert(all.end(), options.begin(), options.end());
  Result result = api.compile(program.get(), static_cast<int>(all.size()), all.data());
  CompileResult out;
  out.log = without_end(program.text(api.log_size, api.log, "reading the log"));
  if (result == error_compilation) {
    out.rejected = true;
    return out;
  }
  if (result != success)
    fail_device("NVRTC {} does not compile for {}: error {} {}", nvrtc_version(), arch, result,
                out.log);
  out.is_ptx = arch.rfind("compute_", 0) == 0;
  out.code = out.is_ptx ? without_end(program.text(api.ptx_size, api.ptx, "reading the PTX"))
                        : program.text(api.cubin_size, api.cubin, "reading the CUBIN");
  out.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return out;
}

CompileResult compile_cuda(const std::string& source, const std::string& name,
                           const std::string& arch, std::span<const char* const> options) {
  CompileResult out = try_compile_cuda(source, name, arch, options);
  if (out.rejected)
    fail_internal(
        fmt::format("NVRTC rejects the kernel {} for {}:\n{}\n{}", name, arch, out.log, source));
  return out;
}

}  // namespace fuseline::cuda
