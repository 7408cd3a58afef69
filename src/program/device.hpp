// Device: what a back end offers to Programs. Implemented by libfuseline_cpu and libfuseline_cuda.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuse/call.hpp"
#include "fuse/loop_ir.hpp"
#include "fuseline/tensor.hpp"
#include "graph/target.hpp"

namespace fuseline {

// What is known of one generated kernel; read by explain and by the ledger.
struct KernelRecord {
  std::string name;
  bool cache_hit = false;
  double generate_ms = 0;  // Loop IR -> text or IR module
  double compile_ms = 0;   // text -> machine code (0 on a hit)
  double load_ms = 0;      // machine code -> callable
  std::optional<int> registers;
  std::optional<int> spill_bytes;
};

class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  KernelRecord record;
};

struct Launch {
  const CompiledKernel* kernel = nullptr;
  std::span<void* const> buffers;         // global buffers, in the kernel's order
  std::span<const std::int64_t> bytes;    // of each buffer from its pointer on, for checks
  std::span<const std::uint64_t> params;  // 8 bytes each
  std::int64_t blocks = 0;                // 0 launches nothing
  int threads = 0;                        // a block; CPUs do not ask
};

// A tensor of a library call.
struct CallOperand {
  DType dtype = DType::f32;
  Shape shape;
  Shape strides;                   // elements
  const void* constant = nullptr;  // host memory of what never changes: may be rearranged once
};

// A contraction at one size. Spatial lists have one entry an axis; see ops.def for their meaning.
struct CallRequest {
  OpCode op = OpCode::matmul;
  std::vector<CallOperand> operands;
  CallOperand result;
  Shape strides, dilations, before;
  std::int64_t groups = 1;
  std::int64_t x_block = 0, y_block = 0;  // channels of a block, 0: plain
  Epilogue epilogue;
};

// A library call that is ready to run at its size.
class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  std::string implementation;      // what the library chose, in its words
  std::int64_t scratch_bytes = 0;  // working memory of a run
};

class Recording {
 public:
  virtual ~Recording() = default;
};

// Memory that grows. What stood in it is lost when it does.
class Arena {
 public:
  virtual ~Arena() = default;
  // At least this many bytes, 256-byte aligned; smaller wishes change nothing.
  virtual void* grow(std::size_t bytes) = 0;
  // Whether growing gives other memory, be it at the same address: recordings must be gone before.
  // CUDA reserves the address space once and maps more, so recordings stay right.
  virtual bool moves() const = 0;
};

// Work in order. Launches may return before the work is done; wait() returns when all is done and
// throws what went wrong.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void launch(const Launch& launch) = 0;
  // Buffers: the request's operands, its result, the scratch memory.
  virtual void call(const PreparedCall& call, std::span<void* const> buffers);
  virtual void fill_zero(void* memory, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;        // on the device
  virtual void upload(void* to, const void* host, std::size_t bytes) = 0;      // from host memory
  virtual void download(void* host, const void* from, std::size_t bytes) = 0;  // to host memory
  virtual void wait() = 0;
  // A failure that no later call recovers from, such as an illegal address: its text, else empty.
  virtual std::string lost() { return {}; }
  // Tells memory from other memory that was at the same address before; 0 where the device knows
  // nothing of it. Copies in a recording hold the memory, not only its address.
  virtual std::uint64_t memory_id(const void*) { return 0; }
  // Work goes to this stream of the caller from now on; nullptr: to the queue's own.
  virtual void use_stream(void*) {}
  // Whether the stream is being captured by the caller: then nothing may allocate or wait.
  virtual bool is_captured() { return false; }
  // Why nothing is recorded on this device; empty where recording works.
  virtual std::string record_refusal() const = 0;
  virtual void begin_record() = 0;
  virtual std::unique_ptr<Recording> end_record() = 0;
  virtual void cancel_record() = 0;  // forgets what was noted since begin_record or begin_patch
  // The same calls in the same order as when it was recorded, with other addresses.
  virtual void begin_patch(Recording& recording) = 0;
  virtual void end_patch() = 0;
  virtual void replay(Recording& recording) = 0;
  // Between begin_record and end_record: a point of time in each replay. Work before it is done
  // before work behind it begins. False where the device has no such points.
  virtual bool note_time() { return false; }
  // Microseconds between neighboring points of the last replay, which is done.
  virtual std::vector<double> times_between(Recording&) { return {}; }
};

// What theoretical rates follow from; absent where the device does not tell.
struct DeviceFacts {
  std::optional<double> memory_gb_per_s;  // clock x width of the device's own memory
  std::optional<std::int64_t> cache_bytes;
  std::string bus_id;  // "0000:1b:00.0", as the management library names it
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceId id() const = 0;
  virtual const Target& target() const = 0;
  // What times depend on besides the kernel: the device, its driver and compiler.
  virtual std::string identity() const = 0;
  // Lines for `fuseline info`: libraries in use, and what can surprise.
  virtual std::vector<std::string> remarks() const { return {}; }
  virtual DeviceFacts facts() const { return {}; }
  // Thread-safe. From the disk cache where possible.
  virtual std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) = 0;
  // Element types of the contractions that prepare() takes; what it needs is opened here.
  virtual std::vector<DType> call_types() { return {}; }
  // Thread-safe.
  virtual std::shared_ptr<const PreparedCall> prepare(const CallRequest& request);
  // The generated text (LLVM IR or CUDA C), made when asked for.
  virtual std::string source_of(const loop::Kernel& kernel) = 0;
  virtual std::unique_ptr<Queue> make_queue() = 0;
  // Device memory, 256-byte aligned, uninitialised; freed with the last reference.
  virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
  // Host memory that copies to and from the device are fastest with; for devices that compute in
  // host memory, that.
  virtual std::shared_ptr<void> allocate_host(std::size_t bytes) { return allocate(bytes); }
  virtual std::unique_ptr<Arena> make_arena() = 0;
};

// The one C function of a back-end library. `abi` must equal device_abi; on failure it returns
// nullptr and sets *reason to a static or thread-local text.
inline constexpr std::uint32_t device_abi = 2;
extern "C" using OpenDevice = Device * (std::uint32_t abi, int index, const char** reason);
inline constexpr const char* open_device_symbol = "fuseline_open_device";

}  // namespace fuseline
