// Runs whose times are drawn, not measured: what the truth is is known.
#pragma once

#include <memory>

#include "ledger/bench.hpp"
#include "ledger/run_record.hpp"
#include "support/noisy_machine.hpp"

namespace fuseline::test {

// Two stages of 60 % and 30 % of the time; the rest is unexplained.
inline RunOnce stream(std::shared_ptr<NoisyMachine> machine, double ms) {
  return [machine, ms] {
    RunSample sample;
    auto whole = static_cast<Nanoseconds>(ms * 1e6 * machine->factor());
    Nanoseconds decode = whole * 6 / 10, kernels = whole * 3 / 10;
    sample.account.wall = whole;
    sample.account.rows = {
        {"decode", decode}, {"kernels", kernels}, {unexplained_row, whole - decode - kernels}};
    sample.account.busy = {{"decode", decode, 1}, {"kernels", kernels, 1}};
    sample.user_seconds = static_cast<double>(whole) / 1e9;
    return sample;
  };
}

inline RunRecord record_of(const SideBySide& sides) {
  RunRecord record;
  record.name = "sample";
  record.created = "2026-01-31T12:00:00Z";
  record.sides = {{"before", "--old", {"./frame", "--old"}, sides.before},
                  {"after", "--new x", {"./frame", "--new", "a b"}, sides.after}};
  record.settings.kernels = "kernels";
  record.environment = {{"hardware", {{"cpu", "A"}, {"processors", 4}, {"gpus", Json::array()}}},
                        {"software", {{"driver", nullptr}}},
                        {"source", {{"commit", nullptr}, {"dirty", nullptr}}},
                        {"conditions", {{"gpus", Json::array()}, {"gpu_report", "none"}}}};
  return record;
}

// Both sides on one machine.
inline RunRecord measured(double before_ms, double after_ms, std::uint64_t seed,
                          double sigma = 0.02) {
  auto machine = std::make_shared<NoisyMachine>(seed, sigma);
  BenchPlan plan;
  plan.seconds = 60;
  plan.least_runs = 12;
  plan.precision = 0.02 / 3;
  plan.seed = seed;
  return record_of(
      measure_side_by_side(stream(machine, before_ms), stream(machine, after_ms), plan));
}

}  // namespace fuseline::test
