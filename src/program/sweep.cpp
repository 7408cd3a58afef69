// Which shapes are tried, and the race of each kernel.
#include "program/sweep.hpp"

#include "base/fail.hpp"
#include "program/trials.hpp"

namespace fuseline {
namespace {

struct Seen {
  std::shared_ptr<const Kernel> kernel;
  const Region* region = nullptr;
  DimBindings sizes;
  LaunchShape taken;
};

// The shape that runs take, then all others that the kernel can be launched in.
std::vector<LaunchShape> shapes_for(const Seen& seen) {
  const KernelPlan& plan = seen.kernel->plan;
  std::vector<LaunchShape> shapes = {seen.taken};
  int most = most_threads(plan);
  for (int groups : {1, 2, 4, 8})
    for (int threads = plan.target.warp * 2; threads <= most; threads *= 2) {
      LaunchShape shape{threads, groups};
      bool one_group = plan.strategy == Strategy::row;
      if (shape != seen.taken && !(one_group && groups > 1)) shapes.push_back(shape);
    }
  return shapes;
}

std::int64_t shared_bytes(const loop::Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const loop::Buffer& buffer : kernel.buffers)
    if (buffer.space == loop::Space::shared)
      bytes += buffer.elements * static_cast<std::int64_t>(size_of(buffer.dtype));
  return bytes;
}

class Sweeping {
 public:
  Sweeping(Device& device, const Program::Impl& program, const TensorMap& inputs,
           const SweepPlan& plan)
      : device_(device), program_(program), inputs_(inputs), plan_(plan) {}

  KernelSweep take(const Seen& seen) const {
    std::vector<LaunchShape> shapes = shapes_for(seen);
    Trials all;
    all.buffers = trial_buffers(program_, *seen.kernel, *seen.region, seen.sizes, inputs_, shapes);
    all.trials = shape_trials(*seen.kernel, *seen.region, seen.sizes, shapes);
    std::vector<int> limits(all.trials.size(), 0);
    std::vector<std::shared_ptr<const CompiledKernel>> limited;
    if (plan_.limits_registers)
      for (int blocks : {2, 3, 4}) {
        loop::Kernel kernel = seen.kernel->lowered.kernel;
        kernel.resident_blocks = blocks;
        limited.push_back(device_.compile(kernel));
        ShapeTrial trial = all.trials.front();
        trial.kernel = limited.back().get();
        all.trials.push_back(std::move(trial));
        limits.push_back(blocks);
      }
    return rows_of(seen, all, limits, race(device_, all, plan_.rounds));
  }

 private:
  static KernelSweep rows_of(const Seen& seen, const Trials& all, const std::vector<int>& limits,
                             const std::vector<double>& us) {
    KernelSweep sweep{
        seen.kernel->lowered.kernel.name, shared_bytes(seen.kernel->lowered.kernel), {}};
    for (std::size_t i = 0; i < us.size(); ++i) {
      const KernelRecord& record = all.trials[i].kernel->record;
      sweep.rows.push_back(
          {all.trials[i].shape, limits[i], us[i], record.registers, record.spill_bytes});
    }
    return sweep;
  }

  Device& device_;
  const Program::Impl& program_;
  const TensorMap& inputs_;
  const SweepPlan& plan_;
};

}  // namespace

std::vector<KernelSweep> sweep_kernels(Device& device, const Graph& graph,
                                       const CompileOptions& options, const TensorMap& inputs,
                                       const SweepPlan& plan) {
  require(device.target().kind == DeviceKind::cuda, "shapes are those of CUDA launches");
  std::vector<Seen> seen;
  Choices choices;
  choices.on_kernel = [&](const std::shared_ptr<const Kernel>& kernel, const Region& region,
                          const DimBindings& sizes, LaunchShape taken) {
    seen.push_back({kernel, &region, sizes, taken});
  };
  Program::Impl program(graph, options, device, std::move(choices));
  auto instance = program.instance(inputs);
  std::vector<KernelSweep> sweeps;
  std::size_t next = 0;
  for (const Step& step : instance->steps) {
    if (step.call) continue;
    const Seen& one = seen.at(next++);
    if (step.blocks > 0) sweeps.push_back(Sweeping(device, program, inputs, plan).take(one));
  }
  return sweeps;
}

}  // namespace fuseline
