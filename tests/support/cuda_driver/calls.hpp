// Counting of driver calls, and the failure that a test has asked for.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/driver_api.hpp"

namespace fuseline::standin {

enum class Call : std::size_t {
#define FUSELINE_STANDIN_CALL(member, symbol, name, parameters) member,
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_CALL)
#undef FUSELINE_STANDIN_CALL
      count
};

const char* name_of(Call call);

// Marks a thread as inside the driver for a scope.
class Inside {
 public:
  Inside() { ++depth(); }
  ~Inside() { --depth(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static int& depth();
};

class Calls {
 public:
  static Calls& all();

  // Counts a call, does it unless it is to fail, and returns what the caller gets.
  template <class Function>
  cuda::driver_api::Result pass(Call call, Function function) {
    Inside inside;
    cuda::driver_api::Result failure = begin(call);
    if (failure != cuda::driver_api::success && !is_ending(call)) return failure;
    cuda::driver_api::Result result = function();
    if (result == cuda::driver_api::success) succeeded(call);
    return failure != cuda::driver_api::success ? failure : result;
  }

  std::int64_t calls(const char* name);
  std::int64_t done(const char* name);
  void fail_at(const char* name, std::int64_t nth, int code, bool onwards);
  std::int64_t failed();
  const char* failed_name();

 private:
  struct Count {
    std::int64_t calls = 0, done = 0;
  };
  Calls() : counts_(static_cast<std::size_t>(Call::count)) {}
  // What fail_at has asked of this call.
  cuda::driver_api::Result begin(Call call);
  void succeeded(Call call);
  static bool is_ending(Call call);
  std::int64_t sum(const char* name, std::int64_t Count::*which);

  std::mutex mutex_;  // guards all below
  std::vector<Count> counts_;
  std::string fail_name_;  // empty: all names
  std::int64_t fail_in_ = 0;
  int fail_code_ = 0;
  bool onwards_ = false;
  std::int64_t failed_ = 0;
  const char* failed_name_ = "";
};

}  // namespace fuseline::standin
