// Noise of a machine, drawn and not measured.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace fuseline::test {

// A machine as benchmarks meet it: lognormal noise, now and then a run that is much slower, and a
// slow wave that both sides see.
class NoisyMachine {
 public:
  explicit NoisyMachine(std::uint64_t seed, double sigma = 0.02)
      : engine_(seed), noise_(0, sigma) {}
  double factor() {
    double wave = 1 + 0.05 * std::sin(static_cast<double>(++runs_) / 50);
    double outlier = engine_() % 20 == 0 ? 1.4 : 1;
    return wave * outlier * std::exp(noise_(engine_));
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> noise_;
  int runs_ = 0;
};

}  // namespace fuseline::test
