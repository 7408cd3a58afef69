// Counting of driver calls.
#include "support/cuda_driver/calls.hpp"

#include <array>

namespace fuseline::standin {

const char* name_of(Call call) {
  static constexpr const char* names[] = {
#define FUSELINE_STANDIN_NAME(member, symbol, name, parameters) #name,
      FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_NAME)
#undef FUSELINE_STANDIN_NAME
  };
  return names[static_cast<std::size_t>(call)];
}

int& Inside::depth() {
  thread_local int depth = 0;
  return depth;
}

Calls& Calls::all() {
  static auto* calls = new Calls;  // kernels and devices outlive static objects
  return *calls;
}

// Such a call has no second chance in the program, and a device that fails has let go anyway.
bool Calls::is_ending(Call call) {
  std::string_view name = name_of(call);
  for (std::string_view word :
       {"Synchronize", "Pop", "Free", "Destroy", "Unload", "Release", "Unmap"})
    if (name.find(word) != name.npos) return true;
  return false;
}

cuda::driver_api::Result Calls::begin(Call call) {
  std::lock_guard lock(mutex_);
  ++counts_[static_cast<std::size_t>(call)].calls;
  if (fail_in_ == 0 || (!fail_name_.empty() && fail_name_ != name_of(call)))
    return cuda::driver_api::success;
  if (fail_in_ > 1) {
    --fail_in_;
    return cuda::driver_api::success;
  }
  if (!onwards_) fail_in_ = 0;
  if (failed_++ == 0) failed_name_ = name_of(call);
  return fail_code_;
}

void Calls::succeeded(Call call) {
  std::lock_guard lock(mutex_);
  ++counts_[static_cast<std::size_t>(call)].done;
}

std::int64_t Calls::sum(const char* name, std::int64_t Count::*which) {
  std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (!name || std::string_view(name) == name_of(static_cast<Call>(i))) sum += counts_[i].*which;
  return sum;
}

std::int64_t Calls::calls(const char* name) { return sum(name, &Count::calls); }
std::int64_t Calls::done(const char* name) { return sum(name, &Count::done); }

void Calls::fail_at(const char* name, std::int64_t nth, int code, bool onwards) {
  std::lock_guard lock(mutex_);
  fail_name_ = name ? name : "";
  fail_in_ = nth;
  fail_code_ = code;
  onwards_ = onwards;
  failed_ = 0;
  failed_name_ = "";
}

std::int64_t Calls::failed() {
  std::lock_guard lock(mutex_);
  return failed_;
}

const char* Calls::failed_name() {
  std::lock_guard lock(mutex_);
  return failed_name_;
}

}  // namespace fuseline::standin
