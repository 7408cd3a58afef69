// Compiled only where the CUDA toolkit is: our declarations of the driver agree with cuda.h.
#include <cuda.h>

#include <type_traits>

#include "device/cuda/driver_api.hpp"

namespace fuseline::cuda::driver_api {
namespace {

// Parameters are compared by size: enums and structs of cuda.h have other names than ours.
template <class Function>
struct Sizes;
template <class R, class... Args>
struct Sizes<R(Args...)> {
  template <class... Others>
  static constexpr bool same(R (*)(Others...)) {
    if constexpr (sizeof...(Args) == sizeof...(Others))
      return ((sizeof(Args) == sizeof(Others)) && ...);
    else
      return false;
  }
};
template <class Ours, class R, class... Args>
constexpr bool agrees(R (*)(Args...)) {
  return Sizes<Ours>::same(static_cast<int (*)(Args...)>(nullptr));
}

#define FUSELINE_DRIVER_SAME(member, symbol, name, parameters) \
  static_assert(agrees<member##_fn>(static_cast<decltype(&::name)>(nullptr)), #symbol);
FUSELINE_DRIVER_SYMBOLS(FUSELINE_DRIVER_SAME)
#if CUDA_VERSION >= 12030
FUSELINE_DRIVER_OPTIONAL_SYMBOLS(FUSELINE_DRIVER_SAME)
static_assert(sizeof(EdgeData) == sizeof(CUgraphEdgeData) &&
              programmatic_edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC &&
              programmatic_edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
#endif
#undef FUSELINE_DRIVER_SAME

static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS));
static_assert(offsetof(KernelNode, params) == offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams));
static_assert(sizeof(CopyNode) == sizeof(CUDA_MEMCPY3D));
static_assert(offsetof(CopyNode, target.device) == offsetof(CUDA_MEMCPY3D, dstDevice));
static_assert(offsetof(CopyNode, width_bytes) == offsetof(CUDA_MEMCPY3D, WidthInBytes));
static_assert(CUDA_ERROR_INVALID_VALUE == error_invalid_value &&
              CUDA_ERROR_OUT_OF_MEMORY == error_out_of_memory &&
              CUDA_ERROR_NO_BINARY_FOR_GPU == error_no_binary);
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == attribute_processors);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == attribute_major);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == attribute_minor);
static_assert(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES == function_local_bytes);
static_assert(CU_FUNC_ATTRIBUTE_NUM_REGS == function_registers);
static_assert(sizeof(MemoryProperties) == sizeof(CUmemAllocationProp) &&
              offsetof(MemoryProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(sizeof(MemoryAccess) == sizeof(CUmemAccessDesc) &&
              offsetof(MemoryAccess, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(CU_MEM_LOCATION_TYPE_DEVICE == 1 && CU_MEM_ALLOCATION_TYPE_PINNED == 1 &&
              CU_MEM_ACCESS_FLAGS_PROT_READWRITE == 3);
static_assert(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED == attribute_virtual_memory);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE == attribute_compute_mode);
static_assert(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE == attribute_memory_clock &&
              CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH == attribute_memory_width &&
              CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE == attribute_cache_bytes);
static_assert(CUDA_ERROR_NOT_READY == error_not_ready);
static_assert(CU_POINTER_ATTRIBUTE_BUFFER_ID == pointer_buffer_id);
static_assert(CU_MEMHOSTALLOC_PORTABLE == host_portable);
static_assert(CU_STREAM_NON_BLOCKING == stream_non_blocking);
static_assert(CU_MEMORYTYPE_HOST == memory_host && CU_MEMORYTYPE_DEVICE == memory_device);

}  // namespace
}  // namespace fuseline::cuda::driver_api
