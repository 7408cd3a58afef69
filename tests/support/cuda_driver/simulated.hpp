// A simulated device of compute capability 9.0: the driver's functions over host memory. Work is
// done when it is waited for, as late as a device may do it.
#pragma once

#include <mutex>
#include <string>

#include "support/cuda_driver/control.hpp"
#include "support/cuda_driver/memory.hpp"

namespace fuseline::standin {

using namespace cuda::driver_api;

inline constexpr Result error_invalid_context = 201;
inline constexpr Result error_invalid_handle = 400;
inline constexpr Result error_illegal_address = 700;
inline constexpr Result error_launch_failed = 719;
inline constexpr Result error_not_supported = 801;
inline constexpr Result error_captured = 900;

// The first argument of all functions below.
struct SimulatedDevice {
  static std::recursive_mutex& mutex();  // held during every call
};

struct Description {
  std::size_t pointers = 0, values = 0;
  Body* body = nullptr;
  void* user = nullptr;
};
void describe_function(Function function, Description description);

std::int64_t pending_work();
void drop_pending_work();
Result drain_all();
// Work for a captured stream is counted and not done.
void begin_capture(Stream stream);
std::int64_t end_capture(Stream stream);
std::int64_t context_depth();
std::string& misuse_text();
// Notes it and returns the error that the driver gives.
Result misuse(const std::string& what, Result result = error_invalid_value);
// What every call gets since the device has met a fault.
Result& device_fault();
// success; or why nothing can be done in this thread now.
Result usable();

// ---- device and contexts
Result cuGetErrorName(SimulatedDevice, Result, const char**);
Result cuGetErrorString(SimulatedDevice, Result, const char**);
Result cuInit(SimulatedDevice, unsigned);
Result cuDriverGetVersion(SimulatedDevice, int*);
Result cuDeviceGetCount(SimulatedDevice, int*);
Result cuDeviceGet(SimulatedDevice, Device*, int);
Result cuDeviceGetName(SimulatedDevice, char*, int, Device);
Result cuDeviceGetAttribute(SimulatedDevice, int*, Attribute, Device);
Result cuDeviceGetPCIBusId(SimulatedDevice, char*, int, Device);
Result cuDevicePrimaryCtxRetain(SimulatedDevice, Context*, Device);
Result cuCtxGetCurrent(SimulatedDevice, Context*);
Result cuCtxGetDevice(SimulatedDevice, Device*);
Result cuCtxPushCurrent_v2(SimulatedDevice, Context);
Result cuCtxPopCurrent_v2(SimulatedDevice, Context*);

// ---- memory (memory.cpp has the addresses, virtual_memory.cpp what is mapped to them)
Result cuMemGetInfo_v2(SimulatedDevice, std::size_t*, std::size_t*);
Result cuMemAlloc_v2(SimulatedDevice, Pointer*, std::size_t);
Result cuMemFree_v2(SimulatedDevice, Pointer);
Result cuPointerGetAttribute(SimulatedDevice, void*, PointerAttribute, Pointer);
Result cuMemHostAlloc(SimulatedDevice, void**, std::size_t, unsigned);
Result cuMemFreeHost(SimulatedDevice, void*);
Result cuDeviceTotalMem_v2(SimulatedDevice, std::size_t*, Device);
Result cuMemAddressReserve(SimulatedDevice, Pointer*, std::size_t, std::size_t, Pointer,
                           unsigned long long);
Result cuMemAddressFree(SimulatedDevice, Pointer, std::size_t);
Result cuMemGetAllocationGranularity(SimulatedDevice, std::size_t*, const MemoryProperties*, int);
Result cuMemCreate(SimulatedDevice, MemoryHandle*, std::size_t, const MemoryProperties*,
                   unsigned long long);
Result cuMemRelease(SimulatedDevice, MemoryHandle);
Result cuMemMap(SimulatedDevice, Pointer, std::size_t, std::size_t, MemoryHandle,
                unsigned long long);
Result cuMemUnmap(SimulatedDevice, Pointer, std::size_t);
Result cuMemSetAccess(SimulatedDevice, Pointer, std::size_t, const MemoryAccess*, std::size_t);

// ---- kernels
Result cuModuleLoadData(SimulatedDevice, Module*, const void*);
Result cuModuleUnload(SimulatedDevice, Module);
Result cuModuleGetFunction(SimulatedDevice, Function*, Module, const char*);
Result cuFuncGetAttribute(SimulatedDevice, int*, Attribute, Function);

// ---- streams
Result cuStreamCreate(SimulatedDevice, Stream*, unsigned);
Result cuStreamDestroy_v2(SimulatedDevice, Stream);
Result cuStreamSynchronize(SimulatedDevice, Stream);
Result cuStreamQuery(SimulatedDevice, Stream);
Result cuStreamIsCapturing(SimulatedDevice, Stream, CaptureStatus*);
Result cuLaunchKernel(SimulatedDevice, Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, Stream, void**, void**);
Result cuMemcpyHtoDAsync_v2(SimulatedDevice, Pointer, const void*, std::size_t, Stream);
Result cuMemcpyDtoHAsync_v2(SimulatedDevice, void*, Pointer, std::size_t, Stream);
Result cuMemcpyDtoDAsync_v2(SimulatedDevice, Pointer, Pointer, std::size_t, Stream);
Result cuMemsetD8Async(SimulatedDevice, Pointer, unsigned char, std::size_t, Stream);

// ---- events
Result cuEventCreate(SimulatedDevice, Event*, unsigned);
Result cuEventDestroy_v2(SimulatedDevice, Event);
Result cuEventElapsedTime(SimulatedDevice, float*, Event, Event);

// ---- graphs
Result cuGraphCreate(SimulatedDevice, Graph*, unsigned);
Result cuGraphDestroy(SimulatedDevice, Graph);
Result cuGraphAddKernelNode_v2(SimulatedDevice, Node*, Graph, const Node*, std::size_t,
                               const KernelNode*);
Result cuGraphAddMemcpyNode(SimulatedDevice, Node*, Graph, const Node*, std::size_t,
                            const CopyNode*, Context);
Result cuGraphAddEventRecordNode(SimulatedDevice, Node*, Graph, const Node*, std::size_t, Event);
Result cuGraphInstantiateWithFlags(SimulatedDevice, Exec*, Graph, unsigned long long);
Result cuGraphExecKernelNodeSetParams_v2(SimulatedDevice, Exec, Node, const KernelNode*);
Result cuGraphExecMemcpyNodeSetParams(SimulatedDevice, Exec, Node, const CopyNode*, Context);
Result cuGraphLaunch(SimulatedDevice, Exec, Stream);
Result cuGraphExecDestroy(SimulatedDevice, Exec);

}  // namespace fuseline::standin
