// CudaArena.
#include "device/cuda/arena.hpp"

#include "base/fail.hpp"

namespace fuseline::cuda {

using namespace driver_api;

namespace {

std::size_t round_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace

CudaArena::CudaArena(Context context, driver_api::Device device, std::string device_name)
    : context_(context), device_name_(std::move(device_name)) {
  ContextScope scope(context_);
  properties_.type = 1;
  properties_.location = {1, device};
  FUSELINE_CUDA(memory_granularity(&granularity_, &properties_, 0));
  std::size_t total = 0;
  FUSELINE_CUDA(device_memory(&total, device));
  reserved_ = round_up(total, granularity_);
  FUSELINE_CUDA(address_reserve(&base_, reserved_, 0, 0, 0));
}

CudaArena::~CudaArena() {
  in_context_if_alive(context_, [&] {
    for (const Piece& piece : pieces_) driver().memory_unmap(base_ + piece.offset, piece.bytes);
    driver().address_free(base_, reserved_);
  });
}

void* CudaArena::grow(std::size_t bytes) {
  if (bytes > mapped_) map(round_up(bytes - mapped_, granularity_));
  return reinterpret_cast<void*>(base_);
}

void CudaArena::map(std::size_t bytes) {
  ContextScope scope(context_);
  MemoryHandle handle = 0;
  Result result = bytes > reserved_ - mapped_
                      ? error_out_of_memory
                      : driver().memory_create(&handle, bytes, &properties_, 0);
  if (result == error_out_of_memory) fail_out_of_memory(device_name_, bytes);
  check(result, "memory_create");
  // The mapping keeps the memory alive; the handle is not needed behind it.
  result = driver().memory_map(base_ + mapped_, bytes, 0, handle, 0);
  driver().memory_release(handle);
  check(result, "memory_map");
  MemoryAccess access = {properties_.location, 3};
  result = driver().memory_access(base_ + mapped_, bytes, &access, 1);
  if (result != success) driver().memory_unmap(base_ + mapped_, bytes);
  check(result, "memory_access");
  pieces_.push_back({mapped_, bytes});
  mapped_ += bytes;
}

}  // namespace fuseline::cuda
