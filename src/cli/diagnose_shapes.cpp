// Every kernel of the first item raced in this process; the command run with fewer threads.
#include "cli/diagnose_shapes.hpp"

#include <fmt/format.h>

#include "base/fail.hpp"
#include "cli/interrupt.hpp"
#include "foreign/compile.hpp"
#include "program/device_registry.hpp"
#include "program/sweep.hpp"

namespace fuseline::cli {
namespace {

ShapeSweep shown(const KernelSweep& sweep, int sm) {
  ShapeSweep all{sweep.kernel, {}, 0};
  for (const SweptShape& row : sweep.rows) {
    ShapeRow one{row.shape.threads, row.shape.groups, row.resident_blocks, row.us,
                 row.registers,     row.spill_bytes,  std::nullopt};
    if (row.registers)
      if (auto occupancy = foreign::occupancy_of(sm, row.shape.threads, *row.registers,
                                                 static_cast<int>(sweep.shared_bytes)))
        one.occupancy = occupancy->share;
    all.rows.push_back(one);
  }
  return all;
}

std::vector<ShapeSweep> sweep_shapes(Subject& subject, Device& device) {
  const FrameTensors& frame = subject.read(0, 0);
  std::vector<ShapeSweep> all;
  for (const KernelSweep& sweep :
       sweep_kernels(device, subject.graphs()[frame.graph], subject.options(), frame.inputs, {})) {
    stop_if_interrupted();
    all.push_back(shown(sweep, device.target().sm));
  }
  if (all.empty()) fail("no kernel has work to do");
  return all;
}

ThreadSweep sweep_threads(Subject& subject, BenchRunner& runner, const BenchPlan& plan) {
  ThreadSweep sweep;
  sweep.usual = processors();
  if (sweep.usual == 1) fail("there is one processor, so there is nothing to choose");
  std::vector<RunOnce> runs;
  for (int threads = 1; threads < 2 * sweep.usual; threads *= 2) {
    sweep.rows.push_back({std::min(threads, sweep.usual), {}});
    runs.push_back(runner.runs_of(subject.on_threads(sweep.rows.back().threads)));
  }
  std::vector<Series> all = measure_in_turn(runs, plan);
  for (std::size_t i = 0; i < all.size(); ++i) sweep.rows[i].series = std::move(all[i]);
  return sweep;
}

template <class T, class Measure>
void attempt(Measured<T>& measured, Measure measure) {
  try {
    measured.value = measure();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    measured.why_not = error.what();
  }
}

}  // namespace

void measure_shapes(Diagnosis& diagnosis, Subject& subject, BenchRunner& runner,
                    const BenchPlan& plan) {
  Device& device = open_device(subject.options().device);
  if (device.target().kind == DeviceKind::cuda) {
    attempt(diagnosis.shapes, [&] { return sweep_shapes(subject, device); });
    diagnosis.threads.why_not = "kernels run on the GPU; only decoding and encoding use threads";
    return;
  }
  diagnosis.shapes.why_not =
      "a CPU has no blocks of threads; chunks of a loop fit the second-level cache";
  attempt(diagnosis.threads, [&] { return sweep_threads(subject, runner, plan); });
}

}  // namespace fuseline::cli
