// Times of an action and of the kernels in it, in milliseconds.
#pragma once

#include "fuseline/observer.hpp"

namespace fuseline::cli {

inline double milliseconds(Observer::Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

template <class Action>
double timed(Action action) {
  auto begin = Observer::Clock::now();
  action();
  return milliseconds(Observer::Clock::now() - begin);
}

// Sums up the kernels of a Lane's runs from reset() on.
class KernelClock final : public Observer {
 public:
  void on_kernel(std::string_view, Clock::time_point begin, Clock::time_point end) override {
    total_ += end - begin;
    ++count_;
  }
  void reset() { total_ = {}, count_ = 0; }
  double ms() const { return milliseconds(total_); }
  int count() const { return count_; }

 private:
  Clock::duration total_{};
  int count_ = 0;
};

}  // namespace fuseline::cli
