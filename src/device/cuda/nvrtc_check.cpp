// Compiled only where the CUDA toolkit is: our declarations of NVRTC agree with its own header.
#include <nvrtc.h>

#include <type_traits>

#include "device/cuda/nvrtc_api.hpp"

namespace fuseline::cuda::nvrtc_api {
namespace {

template <class T>
struct Plain {
  using type = T;
};
template <>
struct Plain<nvrtcResult> {
  using type = Result;
};

template <class Function>
struct Ours;
template <class R, class... Args>
struct Ours<R(Args...)> {
  using type = typename Plain<R>::type(Args...);
};

#define FUSELINE_NVRTC_SAME(member, symbol, parameters) \
  static_assert(std::is_same_v<Ours<decltype(::symbol)>::type, member##_fn>, #symbol);
FUSELINE_NVRTC_SYMBOLS(FUSELINE_NVRTC_SAME)
#undef FUSELINE_NVRTC_SAME

static_assert(sizeof(nvrtcResult) == sizeof(Result));
static_assert(NVRTC_SUCCESS == success && NVRTC_ERROR_COMPILATION == error_compilation);

}  // namespace
}  // namespace fuseline::cuda::nvrtc_api
