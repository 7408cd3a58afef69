// Blocks of real, null, launch-free and observed frames in random order, then bursts of kernels.
#include "cli/diagnose_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <random>

#include "base/fail.hpp"
#include "cli/diagnose_null_device.hpp"
#include "cli/diagnose_variant.hpp"
#include "cli/interrupt.hpp"
#include "ledger/nvml.hpp"
#include "program/device_registry.hpp"

namespace fuseline::cli {
namespace {

using Clock = Observer::Clock;
constexpr double us_per_ms = 1000;
// An unfused program of many operations would take minutes to compile.
constexpr std::size_t most_unfused_nodes = 200;

std::size_t nodes_of(const Subject& subject) {
  std::size_t nodes = 0;
  for (const Graph& graph : subject.graphs()) nodes = std::max(nodes, graph.nodes().size());
  return nodes;
}

DeviceStep::Kind kind_of(StepTime::Kind kind) {
  switch (kind) {
    case StepTime::Kind::upload:
      return DeviceStep::Kind::upload;
    case StepTime::Kind::copy:
      return DeviceStep::Kind::copy;
    case StepTime::Kind::download:
      return DeviceStep::Kind::download;
    case StepTime::Kind::kernel:
      break;
  }
  return DeviceStep::Kind::kernel;
}

class Experiments {
 public:
  explicit Experiments(Subject& subject)
      : subject_(subject),
        fusion_(subject.options().fusion),
        device_(open_device(subject.options().device)),
        null_device_(device_),
        no_kernel_device_(device_),
        real_(device_, subject, fusion_, shapes_, true),
        null_(null_device_, subject, fusion_, shapes_, false),
        no_kernels_(no_kernel_device_, subject, fusion_, shapes_, false),
        gpu_(device_.facts().bus_id),
        clocks_(static_cast<std::size_t>(subject.workers())) {
    if (nodes_of(subject) > most_unfused_nodes) return;
    other_.emplace(device_, subject, !fusion_, other_shapes_, true);
    null_other_.emplace(null_device_, subject, !fusion_, other_shapes_, false);
  }

  void take(Diagnosis& diagnosis, double seconds) {
    warm_up();
    constexpr std::size_t least = 9, most = 101;
    auto begin = Clock::now();
    for (std::size_t n = 0; n < most; ++n) {
      if (n >= least && milliseconds(Clock::now() - begin) > 1000 * seconds) break;
      stop_if_interrupted();
      frames();
      const FrameTensors& frame = subject_.read(n % subject_.items(), 0);
      if (other_) kernels(frame);
      if (is_timed_) steps(subject_.items() == 1 ? frame : subject_.read(0, 0));
    }
    hand_over(diagnosis);
  }

 private:
  // Every item once, on all workers; a single worker leaves its threads to the kernels.
  template <class Each>
  void for_all(Each each) {
    std::size_t items = subject_.items();
    if (subject_.workers() == 1) {
      for (std::size_t i = 0; i < items; ++i) each(i, 0);
      return;
    }
    std::atomic<std::size_t> next{0};
    std::atomic<int> workers{0};
    std::exception_ptr fault;
#pragma omp parallel num_threads(subject_.workers())
    try {
      int worker = workers++;
      for (std::size_t i = next++; i < items; i = next++) each(i, worker);
    } catch (...) {
      next = items;
#pragma omp critical
      if (!fault) fault = std::current_exception();
    }
    if (fault) std::rethrow_exception(fault);
  }

  double whole(Variant& variant, bool null) {
    return timed([&] {
      for_all([&](std::size_t item, int worker) {
        variant.run(subject_.read(item, worker), worker, null);
        subject_.write(item, worker);
      });
    });
  }

  // Real kernels go first: the others take their shapes, and the encoder their masks.
  void warm_up() {
    constexpr int runs = 3;
    for (std::size_t item = 0; item < subject_.items(); ++item) {
      const FrameTensors& frame = subject_.read(item, 0);
      for (int i = 0; i < runs; ++i) {
        if (other_) other_->run(frame, 0);
        real_.run(frame, 0);
        null_.run(frame, 0, true);
        no_kernels_.run(frame, 0, true);
        if (null_other_) null_other_->run(frame, 0, true);
      }
      if (item == 0)
        is_timed_ = !real_.lane(frame, 0).run_timed(frame.inputs, frame.outputs).empty();
      device_ms_.push_back(is_timed_ ? kernels_alone(frame) : 0);
      add_traffic(frame);
    }
    for (Variant* variant : {&real_, &null_, &no_kernels_}) whole(*variant, variant != &real_);
  }

  void add_traffic(const FrameTensors& frame) {
    if (!other_) return;
    auto items = static_cast<double>(subject_.items());
    auto add = [&](Traffic& sum, Variant& variant) {
      Traffic one = variant.traffic(frame);
      sum.launches = one.launches;
      sum.bytes += one.bytes / items;
    };
    add(gain_.before, fusion_ ? *other_ : real_);
    add(gain_.after, fusion_ ? real_ : *other_);
  }

  // By the device's clock; each kernel for at least a millisecond.
  double kernels_alone(const FrameTensors& frame) {
    alone_ = real_.lane(frame, 0).run_repeated(frame.inputs, frame.outputs, us_per_ms);
    double us = 0;
    for (const StepTime& step : alone_)
      if (step.kind == StepTime::Kind::kernel) us += step.us;
    return us / us_per_ms;
  }

  void frames() {
    std::array order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), engine_);
    for (int which : order) {
      if (which == 0) null_run_.real.push_back(whole(real_, false));
      if (which == 1) null_run_.null.push_back(whole(null_, true));
      if (which == 2) null_run_.no_kernels.push_back(whole(no_kernels_, true));
      if (which == 3) null_run_.kernels.push_back(kernels_of_all());
    }
  }

  // Of a GPU the device's own time, for its kernels wait for each other; else that of a thread.
  double kernels_of_all() {
    double sum = 0;
    if (is_timed_) {
      for (double ms : device_ms_) sum += ms;
      return sum;
    }
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      clocks_[i].reset();
      real_.observe(&clocks_[i], static_cast<int>(i));
    }
    whole(real_, false);
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      sum += clocks_[i].ms();
      real_.observe(nullptr, static_cast<int>(i));
    }
    return sum / static_cast<double>(clocks_.size());
  }

  void kernels(const FrameTensors& frame) {
    std::array order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), engine_);
    for (int which : order) {
      bool is_real = which < 2, is_fused = which % 2 == 1;
      Variant& variant =
          is_fused == fusion_ ? (is_real ? real_ : null_) : (is_real ? *other_ : *null_other_);
      auto& times = is_real ? (is_fused ? gain_.after_ms : gain_.before_ms)
                            : (is_fused ? gain_.null_after_ms : gain_.null_before_ms);
      times.push_back(variant.burst(frame, !is_real));
      if (!is_real || device_.target().kind == DeviceKind::cpu) continue;
      if (auto mhz = gpu_.sm_clock_mhz())
        (is_fused ? gain_.after_mhz : gain_.before_mhz).push_back(*mhz);
    }
  }

  // A plain recording and one with points of time, in alternate order; then the kernels alone.
  void steps(const FrameTensors& frame) {
    Lane::Impl& lane = real_.lane(frame, 0);
    auto plain = [&] { lane.run(frame.inputs, frame.outputs); };
    auto with_points = [&] { last_ = lane.run_timed(frame.inputs, frame.outputs); };
    bool first = engine_() % 2 == 0;
    for (bool is_plain : {first, !first}) {
      for (int i = 0; i < 2; ++i) is_plain ? plain() : with_points();
      (is_plain ? timed_.plain : timed_.timed)
          .push_back(is_plain ? timed(plain) : timed(with_points));
    }
    device_ms_[0] = kernels_alone(frame);
    if (timed_.steps.empty())
      for (const StepTime& step : last_)
        timed_.steps.push_back({kind_of(step.kind), step.name, step.bytes, {}, {}});
    for (std::size_t i = 0; i < last_.size(); ++i) {
      timed_.steps[i].us.push_back(last_[i].us);
      if (last_[i].kind == StepTime::Kind::kernel) timed_.steps[i].alone.push_back(alone_[i].us);
    }
  }

  void hand_over(Diagnosis& diagnosis) {
    null_run_.frame = subject_.frame();
    null_run_.with_launches = !is_timed_;
    diagnosis.null_run.value = std::move(null_run_);
    if (is_timed_)
      diagnosis.timed.value = std::move(timed_);
    else
      diagnosis.timed.why_not = device_.make_queue()->record_refusal();
    if (!other_) {
      diagnosis.gain.why_not = fmt::format(
          "only for up to {} operations: the unfused program would take too long to compile",
          most_unfused_nodes);
      return;
    }
    // A copy of n bytes reads n and writes n. What the unfused kernels move tells the caches.
    bool is_cpu = device_.target().kind == DeviceKind::cpu;
    auto rate = rate_near(diagnosis.roofline,
                          is_cpu ? host_path(device_.target().processors) : "GPU memory, copied",
                          gain_.before.bytes);
    if (rate) {
      gain_.bytes_per_ms = 2 * *rate * 1e6;
      diagnosis.gain.value = std::move(gain_);
    } else {
      diagnosis.gain.why_not = "the bandwidth of this device's memory was not measured";
    }
  }

  Subject& subject_;
  bool fusion_;
  Device& device_;
  NullKernelDevice null_device_;
  NoKernelDevice no_kernel_device_;
  TakenShapes shapes_, other_shapes_;
  Variant real_, null_, no_kernels_;
  std::optional<Variant> other_, null_other_;  // with fusion the other way round
  GpuProbe gpu_;
  std::vector<KernelClock> clocks_;
  std::vector<double> device_ms_;  // of the kernels, by item
  bool is_timed_ = false;
  std::vector<StepTime> alone_, last_;
  std::minstd_rand engine_{1};
  NullRun null_run_;
  TimedRun timed_;
  GainRun gain_;
};

}  // namespace

void measure_frames(Diagnosis& diagnosis, Subject& subject, double seconds) {
  Experiments(subject).take(diagnosis, seconds);
}

}  // namespace fuseline::cli
