// Launches on the CPU: plain calls, spread over OpenMP threads where there are several blocks.
#include "device/cpu/queue.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "device/cpu/call_library.hpp"
#include "device/cpu/kernel_table.hpp"

namespace fuseline::cpu {

namespace {
// Portions a thread: enough to even out blocks of unequal cost, few enough to stay contiguous.
constexpr std::int64_t portions_a_thread = 4;
}  // namespace

void CpuQueue::launch(const Launch& launch) {
  require(launch.kernel != nullptr, "a launch without a kernel");
  emit::KernelFunction* run = static_cast<const CpuKernel*>(launch.kernel)->function;
  void* const* buffers = launch.buffers.data();
  const std::uint64_t* params = launch.params.data();
  std::int64_t blocks = launch.blocks;
  if (blocks <= 0) return;
  int threads = static_cast<int>(std::min<std::int64_t>(threads_, blocks));
  // Whoever plans makes one block of what is too little for several threads. Inside a parallel
  // region of the caller OpenMP makes a team of one thread: levels do not multiply.
  if (threads <= 1) {
    run(buffers, params, 0, blocks, blocks);
    return;
  }
  std::int64_t portions = std::min(blocks, threads * portions_a_thread);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t i = 0; i < portions; ++i)
    run(buffers, params, blocks * i / portions, blocks * (i + 1) / portions, blocks);
}

void CpuQueue::call(const PreparedCall& call, std::span<void* const> buffers) {
  static_cast<const CpuCall&>(call).run(buffers, threads_);
}

void CpuQueue::fill_zero(void* memory, std::size_t bytes) {
  if (bytes > 0) std::memset(memory, 0, bytes);
}

void CpuQueue::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

std::string CpuQueue::record_refusal() const {
  return "launches on the CPU are function calls; there is nothing to record";
}

void CpuQueue::begin_record() { fail_internal(record_refusal()); }
std::unique_ptr<Recording> CpuQueue::end_record() { fail_internal(record_refusal()); }
void CpuQueue::begin_patch(Recording&) { fail_internal(record_refusal()); }
void CpuQueue::end_patch() { fail_internal(record_refusal()); }
void CpuQueue::replay(Recording&) { fail_internal(record_refusal()); }

}  // namespace fuseline::cpu
