// The part of the CUDA driver's interface that Fuseline uses, declared here so that no toolkit is
// needed to build; driver_check.cpp compares it with the official header where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUkern_st;
struct CUstream_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUarray_st;
struct CUevent_st;

namespace fuseline::cuda::driver_api {

using Result = int;  // an enum in C
using Attribute = int;
using Device = int;
using Pointer = unsigned long long;
using Context = CUctx_st*;
using Module = CUmod_st*;
using Function = CUfunc_st*;
using Stream = CUstream_st*;
using Graph = CUgraph_st*;
using Node = CUgraphNode_st*;
using Exec = CUgraphExec_st*;
using CaptureStatus = int;
using PointerAttribute = int;
using Event = CUevent_st*;
using MemoryHandle = unsigned long long;

inline constexpr Result success = 0;
inline constexpr Result error_invalid_value = 1;
inline constexpr Result error_out_of_memory = 2;
inline constexpr Result error_no_binary = 209;
inline constexpr Attribute attribute_processors = 16;
inline constexpr Attribute attribute_major = 75;
inline constexpr Attribute attribute_minor = 76;
inline constexpr Attribute function_local_bytes = 3;
inline constexpr Attribute function_registers = 4;
inline constexpr Attribute attribute_memory_clock = 36;  // kHz
inline constexpr Attribute attribute_memory_width = 37;  // bits
inline constexpr Attribute attribute_cache_bytes = 38;   // of the second level
inline constexpr Attribute attribute_compute_mode = 20;
inline constexpr Attribute attribute_virtual_memory = 102;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr PointerAttribute pointer_buffer_id = 7;
inline constexpr unsigned host_portable = 1;  // pinned for every context
inline constexpr Result error_not_ready = 600;
inline constexpr int memory_host = 1;
inline constexpr int memory_device = 2;

struct KernelNode {
  Function function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void** params;
  void** extra;
  CUkern_st* kernel;
  Context context;
};

struct CopyEnd {
  std::size_t x_bytes, y, z, lod;
  int memory_type;
  const void* host;
  Pointer device;
  CUarray_st* array;
  void* reserved;
  std::size_t pitch, height;
};
struct CopyNode {
  CopyEnd source, target;
  std::size_t width_bytes, height, depth;
};

// Programmatic dependency: the kernel behind starts when all blocks of the one before it have said
// launch_dependents, and waits for the rest itself.
struct EdgeData {
  unsigned char from_port, to_port, type;
  unsigned char reserved[5];
};
inline constexpr EdgeData programmatic_edge = {1, 0, 1, {}};

struct MemoryLocation {
  int type;  // 1: a device
  int id;
};
struct MemoryProperties {
  int type;  // 1: pinned
  int handle_types;
  MemoryLocation location;
  void* win32;
  unsigned char compression, gpu_direct;
  unsigned short usage;
  unsigned char reserved[4];
};
struct MemoryAccess {
  MemoryLocation location;
  int flags;  // 3: read and write
};

// FUSELINE_DRIVER(member, exported symbol, name in cuda.h, parameters), all returning Result.
// Error names come first: nothing else can be reported without them.
#define FUSELINE_DRIVER_SYMBOLS(FUSELINE_DRIVER)                                                   \
  FUSELINE_DRIVER(error_name, cuGetErrorName, cuGetErrorName, (Result, const char**))              \
  FUSELINE_DRIVER(error_text, cuGetErrorString, cuGetErrorString, (Result, const char**))          \
  FUSELINE_DRIVER(init, cuInit, cuInit, (unsigned))                                                \
  FUSELINE_DRIVER(version, cuDriverGetVersion, cuDriverGetVersion, (int*))                         \
  FUSELINE_DRIVER(device_count, cuDeviceGetCount, cuDeviceGetCount, (int*))                        \
  FUSELINE_DRIVER(device_get, cuDeviceGet, cuDeviceGet, (Device*, int))                            \
  FUSELINE_DRIVER(device_name, cuDeviceGetName, cuDeviceGetName, (char*, int, Device))             \
  FUSELINE_DRIVER(device_attribute, cuDeviceGetAttribute, cuDeviceGetAttribute,                    \
                  (int*, Attribute, Device))                                                       \
  FUSELINE_DRIVER(memory_info, cuMemGetInfo_v2, cuMemGetInfo, (std::size_t*, std::size_t*))        \
  FUSELINE_DRIVER(primary_retain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,              \
                  (Context*, Device))                                                              \
  FUSELINE_DRIVER(context_current, cuCtxGetCurrent, cuCtxGetCurrent, (Context*))                   \
  FUSELINE_DRIVER(context_device, cuCtxGetDevice, cuCtxGetDevice, (Device*))                       \
  FUSELINE_DRIVER(context_push, cuCtxPushCurrent_v2, cuCtxPushCurrent, (Context))                  \
  FUSELINE_DRIVER(context_pop, cuCtxPopCurrent_v2, cuCtxPopCurrent, (Context*))                    \
  FUSELINE_DRIVER(module_load, cuModuleLoadData, cuModuleLoadData, (Module*, const void*))         \
  FUSELINE_DRIVER(module_unload, cuModuleUnload, cuModuleUnload, (Module))                         \
  FUSELINE_DRIVER(module_function, cuModuleGetFunction, cuModuleGetFunction,                       \
                  (Function*, Module, const char*))                                                \
  FUSELINE_DRIVER(function_attribute, cuFuncGetAttribute, cuFuncGetAttribute,                      \
                  (int*, Attribute, Function))                                                     \
  FUSELINE_DRIVER(launch, cuLaunchKernel, cuLaunchKernel,                                          \
                  (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                   Stream, void**, void**))                                                        \
  FUSELINE_DRIVER(memory_allocate, cuMemAlloc_v2, cuMemAlloc, (Pointer*, std::size_t))             \
  FUSELINE_DRIVER(memory_free, cuMemFree_v2, cuMemFree, (Pointer))                                 \
  FUSELINE_DRIVER(host_allocate, cuMemHostAlloc, cuMemHostAlloc, (void**, std::size_t, unsigned))  \
  FUSELINE_DRIVER(host_free, cuMemFreeHost, cuMemFreeHost, (void*))                                \
  FUSELINE_DRIVER(copy_to_device, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync,                         \
                  (Pointer, const void*, std::size_t, Stream))                                     \
  FUSELINE_DRIVER(copy_to_host, cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync,                           \
                  (void*, Pointer, std::size_t, Stream))                                           \
  FUSELINE_DRIVER(copy_on_device, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync,                         \
                  (Pointer, Pointer, std::size_t, Stream))                                         \
  FUSELINE_DRIVER(fill_bytes, cuMemsetD8Async, cuMemsetD8Async,                                    \
                  (Pointer, unsigned char, std::size_t, Stream))                                   \
  FUSELINE_DRIVER(stream_create, cuStreamCreate, cuStreamCreate, (Stream*, unsigned))              \
  FUSELINE_DRIVER(stream_destroy, cuStreamDestroy_v2, cuStreamDestroy, (Stream))                   \
  FUSELINE_DRIVER(stream_wait, cuStreamSynchronize, cuStreamSynchronize, (Stream))                 \
  FUSELINE_DRIVER(graph_create, cuGraphCreate, cuGraphCreate, (Graph*, unsigned))                  \
  FUSELINE_DRIVER(graph_destroy, cuGraphDestroy, cuGraphDestroy, (Graph))                          \
  FUSELINE_DRIVER(graph_add_kernel, cuGraphAddKernelNode_v2, cuGraphAddKernelNode,                 \
                  (Node*, Graph, const Node*, std::size_t, const KernelNode*))                     \
  FUSELINE_DRIVER(graph_add_copy, cuGraphAddMemcpyNode, cuGraphAddMemcpyNode,                      \
                  (Node*, Graph, const Node*, std::size_t, const CopyNode*, Context))              \
  FUSELINE_DRIVER(graph_instantiate, cuGraphInstantiateWithFlags, cuGraphInstantiate,              \
                  (Exec*, Graph, unsigned long long))                                              \
  FUSELINE_DRIVER(exec_set_kernel, cuGraphExecKernelNodeSetParams_v2,                              \
                  cuGraphExecKernelNodeSetParams, (Exec, Node, const KernelNode*))                 \
  FUSELINE_DRIVER(exec_set_copy, cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams,   \
                  (Exec, Node, const CopyNode*, Context))                                          \
  FUSELINE_DRIVER(exec_launch, cuGraphLaunch, cuGraphLaunch, (Exec, Stream))                       \
  FUSELINE_DRIVER(exec_destroy, cuGraphExecDestroy, cuGraphExecDestroy, (Exec))                    \
  FUSELINE_DRIVER(event_create, cuEventCreate, cuEventCreate, (Event*, unsigned))                  \
  FUSELINE_DRIVER(event_destroy, cuEventDestroy_v2, cuEventDestroy, (Event))                       \
  FUSELINE_DRIVER(event_elapsed, cuEventElapsedTime, cuEventElapsedTime, (float*, Event, Event))   \
  FUSELINE_DRIVER(graph_add_event, cuGraphAddEventRecordNode, cuGraphAddEventRecordNode,           \
                  (Node*, Graph, const Node*, std::size_t, Event))                                 \
  FUSELINE_DRIVER(device_bus_id, cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char*, int, Device))   \
  FUSELINE_DRIVER(pointer_attribute, cuPointerGetAttribute, cuPointerGetAttribute,                 \
                  (void*, PointerAttribute, Pointer))                                              \
  FUSELINE_DRIVER(stream_query, cuStreamQuery, cuStreamQuery, (Stream))                            \
  FUSELINE_DRIVER(stream_capture, cuStreamIsCapturing, cuStreamIsCapturing,                        \
                  (Stream, CaptureStatus*))                                                        \
  FUSELINE_DRIVER(device_memory, cuDeviceTotalMem_v2, cuDeviceTotalMem, (std::size_t*, Device))    \
  FUSELINE_DRIVER(address_reserve, cuMemAddressReserve, cuMemAddressReserve,                       \
                  (Pointer*, std::size_t, std::size_t, Pointer, unsigned long long))               \
  FUSELINE_DRIVER(address_free, cuMemAddressFree, cuMemAddressFree, (Pointer, std::size_t))        \
  FUSELINE_DRIVER(memory_granularity, cuMemGetAllocationGranularity,                               \
                  cuMemGetAllocationGranularity, (std::size_t*, const MemoryProperties*, int))     \
  FUSELINE_DRIVER(memory_create, cuMemCreate, cuMemCreate,                                         \
                  (MemoryHandle*, std::size_t, const MemoryProperties*, unsigned long long))       \
  FUSELINE_DRIVER(memory_release, cuMemRelease, cuMemRelease, (MemoryHandle))                      \
  FUSELINE_DRIVER(memory_map, cuMemMap, cuMemMap,                                                  \
                  (Pointer, std::size_t, std::size_t, MemoryHandle, unsigned long long))           \
  FUSELINE_DRIVER(memory_unmap, cuMemUnmap, cuMemUnmap, (Pointer, std::size_t))                    \
  FUSELINE_DRIVER(memory_access, cuMemSetAccess, cuMemSetAccess,                                   \
                  (Pointer, std::size_t, const MemoryAccess*, std::size_t))

// The same for what newer drivers have; nullptr where it is missing.
#define FUSELINE_DRIVER_OPTIONAL_SYMBOLS(FUSELINE_DRIVER)                                \
  FUSELINE_DRIVER(graph_add_edges, cuGraphAddDependencies_v2, cuGraphAddDependencies_v2, \
                  (Graph, const Node*, const Node*, const EdgeData*, std::size_t))

#define FUSELINE_DRIVER_TYPE(member, symbol, name, parameters) \
  using member##_fn = Result parameters;
FUSELINE_DRIVER_SYMBOLS(FUSELINE_DRIVER_TYPE)
FUSELINE_DRIVER_OPTIONAL_SYMBOLS(FUSELINE_DRIVER_TYPE)
#undef FUSELINE_DRIVER_TYPE

}  // namespace fuseline::cuda::driver_api
