// What devices without a library of contractions answer.
#include "program/device.hpp"

#include "base/fail.hpp"

namespace fuseline {

void Queue::call(const PreparedCall&, std::span<void* const>) {
  fail_internal("this device has no library calls");
}

std::shared_ptr<const PreparedCall> Device::prepare(const CallRequest&) {
  fail_internal("this device has no library calls");
}

}  // namespace fuseline
