// Observer: the narrow hook through which accounts are taken. Without one, nothing is measured.
#pragma once

#include <chrono>
#include <string_view>

namespace fuseline {

class Observer {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Observer() = default;
  // One kernel of a run, from its launch until its work is done. `kernel` is its name, unique in
  // the Program. Called by the thread that runs the Lane, in order.
  virtual void on_kernel(std::string_view kernel, Clock::time_point begin,
                         Clock::time_point end) = 0;
};

}  // namespace fuseline
