// The part of NVRTC's interface that Fuseline uses, declared here so that no toolkit is needed to
// build; nvrtc_check.cpp compares it with the official header where there is one.
#pragma once

#include <cstddef>

struct _nvrtcProgram;

namespace fuseline::cuda::nvrtc_api {

using Program = _nvrtcProgram*;
using Result = int;  // an enum in C
inline constexpr Result success = 0;
inline constexpr Result error_compilation = 6;

// FUSELINE_NVRTC(member, symbol, parameters), all returning Result.
#define FUSELINE_NVRTC_SYMBOLS(FUSELINE_NVRTC)                                           \
  FUSELINE_NVRTC(version, nvrtcVersion, (int*, int*))                                    \
  FUSELINE_NVRTC(arch_count, nvrtcGetNumSupportedArchs, (int*))                          \
  FUSELINE_NVRTC(archs, nvrtcGetSupportedArchs, (int*))                                  \
  FUSELINE_NVRTC(                                                                        \
      create, nvrtcCreateProgram,                                                        \
      (Program*, const char*, const char*, int, const char* const*, const char* const*)) \
  FUSELINE_NVRTC(destroy, nvrtcDestroyProgram, (Program*))                               \
  FUSELINE_NVRTC(compile, nvrtcCompileProgram, (Program, int, const char* const*))       \
  FUSELINE_NVRTC(log_size, nvrtcGetProgramLogSize, (Program, std::size_t*))              \
  FUSELINE_NVRTC(log, nvrtcGetProgramLog, (Program, char*))                              \
  FUSELINE_NVRTC(cubin_size, nvrtcGetCUBINSize, (Program, std::size_t*))                 \
  FUSELINE_NVRTC(cubin, nvrtcGetCUBIN, (Program, char*))                                 \
  FUSELINE_NVRTC(ptx_size, nvrtcGetPTXSize, (Program, std::size_t*))                     \
  FUSELINE_NVRTC(ptx, nvrtcGetPTX, (Program, char*))

#define FUSELINE_NVRTC_TYPE(member, symbol, parameters) using member##_fn = Result parameters;
FUSELINE_NVRTC_SYMBOLS(FUSELINE_NVRTC_TYPE)
#undef FUSELINE_NVRTC_TYPE

}  // namespace fuseline::cuda::nvrtc_api
