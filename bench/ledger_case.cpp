// Verdicts on a synthetic stream of times: how often a known truth is told.
#include <array>
#include <cmath>
#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "bench_case.hpp"
#include "ledger/bench.hpp"
#include "ledger/report.hpp"
#include "support/noisy_machine.hpp"

namespace fuseline::bench {
namespace {

using test::NoisyMachine;

RunOnce stream(std::shared_ptr<NoisyMachine> machine, double milliseconds) {
  return [machine, milliseconds] {
    RunSample sample;
    sample.account.wall = std::llround(milliseconds * 1e6 * machine->factor());
    sample.account.rows = {{unexplained_row, sample.account.wall}};
    return sample;
  };
}

Verdict verdict(double ratio, double sigma, std::uint64_t seed) {
  constexpr double base_ms = 10;
  auto machine = std::make_shared<NoisyMachine>(seed, sigma);
  RunRecord record;
  BenchPlan plan{.seconds = 60, .least_runs = 12, .seed = seed};
  plan.precision = record.settings.threshold / 3;
  SideBySide sides =
      measure_side_by_side(stream(machine, base_ms), stream(machine, base_ms * ratio), plan);
  record.sides = {{"before", "", {"stream"}, sides.before}, {"after", "", {"stream"}, sides.after}};
  return verdict_of(record).value();
}

}  // namespace

// RATIO SIGMA SEED COUNT: the after side takes RATIO times as long, with noise of SIGMA.
void print_verdicts(const Arguments& arguments) {
  if (arguments.size() != 4) fail("verdicts RATIO SIGMA SEED COUNT");
  double ratio = std::stod(arguments[0]), sigma = std::stod(arguments[1]);
  std::uint64_t seed = std::stoull(arguments[2]);
  std::array<int, 4> counts{};
  for (int i = 0; i < std::stoi(arguments[3]); ++i)
    ++counts[static_cast<std::size_t>(verdict(ratio, sigma, seed + static_cast<std::uint64_t>(i)))];
  Json json;
  for (std::size_t v = 0; v < counts.size(); ++v)
    json[std::string(name_of(static_cast<Verdict>(v)))] = counts[v];
  print_json(json);
}

}  // namespace fuseline::bench
