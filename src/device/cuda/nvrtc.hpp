// Compiles CUDA C with NVRTC, which is opened at run time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fuseline::cuda {

struct CompileResult {
  std::string code;  // a CUBIN, or PTX
  bool is_ptx = false;
  std::string log;        // warnings; empty in the good case
  bool rejected = false;  // the text is wrong: there is a log and no code
  double ms = 0;
};

// Why NVRTC cannot be used, one line; empty where it can.
std::string nvrtc_missing();
// "13.0 (path)"; needs NVRTC, as all below.
std::string nvrtc_version();
// Other copies of NVRTC in the searched folders, which are not used.
std::vector<std::string> other_nvrtc_copies();
// Compute capabilities x 10 that it compiles for, ascending.
std::vector<int> nvrtc_architectures();
// What to compile for a device: "sm_90" where NVRTC knows it, else PTX for the newest architecture
// below it, "compute_90", which the driver compiles; none where all that it knows are newer.
std::optional<std::string> nvrtc_architecture_for(int sm);

// `arch` "sm_90" gives a CUBIN, "compute_90" PTX. Throws Error (device) where NVRTC is missing or
// does not know the architecture. For texts of the user: a wrong one gives a rejected result.
CompileResult try_compile_cuda(const std::string& source, const std::string& name,
                               const std::string& arch, std::span<const char* const> options);

// The same for generated sources: InternalError with the compiler's log where one is wrong.
CompileResult compile_cuda(const std::string& source, const std::string& name,
                           const std::string& arch, std::span<const char* const> options);

}  // namespace fuseline::cuda
