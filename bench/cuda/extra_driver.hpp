// Calls of the CUDA driver that only measuring needs: events, and capture of a stream.
#pragma once

#include <string>

#include "device/cuda/driver_api.hpp"

struct CUevent_st;

namespace fuseline::bench {

namespace driver_api = cuda::driver_api;
using Event = CUevent_st*;

inline constexpr driver_api::Attribute attribute_block_threads = 1;
inline constexpr driver_api::Attribute attribute_shared_bytes = 8;
inline constexpr driver_api::Attribute attribute_processor_threads = 39;
inline constexpr int capture_relaxed = 2;

// member, exported symbol, parameters; all return Result.
#define FUSELINE_EXTRA_DRIVER_SYMBOLS(FUSELINE_EXTRA)                               \
  FUSELINE_EXTRA(event_create, cuEventCreate, (Event*, unsigned))                   \
  FUSELINE_EXTRA(event_destroy, cuEventDestroy_v2, (Event))                         \
  FUSELINE_EXTRA(event_record, cuEventRecord, (Event, driver_api::Stream))          \
  FUSELINE_EXTRA(event_wait, cuEventSynchronize, (Event))                           \
  FUSELINE_EXTRA(event_elapsed, cuEventElapsedTime, (float*, Event, Event))         \
  FUSELINE_EXTRA(capture_begin, cuStreamBeginCapture_v2, (driver_api::Stream, int)) \
  FUSELINE_EXTRA(capture_end, cuStreamEndCapture, (driver_api::Stream, driver_api::Graph*))

struct ExtraDriver {
#define FUSELINE_EXTRA_MEMBER(member, symbol, parameters) \
  driver_api::Result(*member) parameters = nullptr;
  FUSELINE_EXTRA_DRIVER_SYMBOLS(FUSELINE_EXTRA_MEMBER)
#undef FUSELINE_EXTRA_MEMBER
};

// Throws Error (device) where the driver lacks one of them.
const ExtraDriver& extra_driver();

#define FUSELINE_EXTRA_CUDA(call) ::fuseline::cuda::check(extra_driver().call, #call)

}  // namespace fuseline::bench
