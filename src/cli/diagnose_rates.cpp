// Copies of 4 KB to 256 MB in every direction, and launches of a kernel without a body.
#include "cli/diagnose_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/fail.hpp"
#include "fuseline/ops.hpp"
#include "ledger/nvml.hpp"
#include "program/device_registry.hpp"
#include "program/sweep.hpp"

namespace fuseline::cli {
namespace {

class DeviceCopies {
 public:
  DeviceCopies(Device& device, std::size_t bytes)
      : queue_(device.make_queue()), on_device_(device.allocate(bytes)), bytes_(bytes) {}

  double upload(const void* host, int times) {
    return timed(times, [&] { queue_->upload(on_device_.get(), host, bytes_); });
  }
  double download(void* host, int times) {
    return timed(times, [&] { queue_->download(host, on_device_.get(), bytes_); });
  }
  double copy(void* to, int times) {
    return timed(times, [&] { queue_->copy(to, on_device_.get(), bytes_); });
  }
  double fill(int times) {
    return timed(times, [&] { queue_->fill_zero(on_device_.get(), bytes_); });
  }

 private:
  template <class Copy>
  double timed(int times, Copy copy) {
    queue_->wait();
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) copy();
    queue_->wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::unique_ptr<Queue> queue_;
  std::shared_ptr<void> on_device_;
  std::size_t bytes_;
};

void measure_both_ways(Roofline& roofline, Device& device, const std::string& kind, void* host,
                       std::size_t bytes) {
  std::memset(host, 1, bytes);
  DeviceCopies copies(device, bytes);
  auto size = static_cast<double>(bytes);
  roofline.points.push_back(measure_copies("to the GPU, " + kind, size,
                                           [&](int times) { return copies.upload(host, times); }));
  roofline.points.push_back(measure_copies(
      "from the GPU, " + kind, size, [&](int times) { return copies.download(host, times); }));
}

// The driver's own copies and fills on the device.
void measure_device_memory(Roofline& roofline, Device& device, std::size_t bytes) {
  DeviceCopies copies(device, bytes);
  auto other = device.allocate(bytes);
  auto size = static_cast<double>(bytes);
  roofline.points.push_back(measure_copies(
      "GPU memory, copied", size, [&](int times) { return copies.copy(other.get(), times); }));
  roofline.points.push_back(
      measure_copies("GPU memory, written", size, [&](int times) { return copies.fill(times); }));
}

// Our own reduction in its fastest shape: the driver has nothing that only reads.
void measure_reading(Roofline& roofline, Device& device, std::size_t bytes) {
  constexpr std::size_t width = 4;
  constexpr int samples = 5;
  Graph graph;
  graph.output("most", reduce_max(graph.input("x", DType::f32, {Dim::symbol("N")}), {0}));
  auto memory = device.allocate(bytes);
  Tensor x(memory.get(), DType::f32, {static_cast<std::int64_t>(bytes / width)}, device.id());
  std::vector<double> rates;
  for (int i = 0; i < samples; ++i) {
    double us = 0;
    for (const KernelSweep& sweep : sweep_kernels(device, graph, {}, {{"x", x}}, {1, false}))
      us += std::min_element(sweep.rows.begin(), sweep.rows.end(), [](auto& a, auto& b) {
              return a.us < b.us;
            })->us;
    rates.push_back(static_cast<double>(bytes) / std::max(us, 1e-3) / 1e3);
  }
  roofline.points.push_back(
      {"GPU memory, read", static_cast<double>(bytes), median_interval(rates)});
}

void measure_size(Roofline& roofline, Device& device, std::size_t bytes) {
  constexpr std::size_t least_read = 1 << 20;  // less is bound by the launch
  try {
    auto pageable = std::make_unique<char[]>(bytes);
    measure_both_ways(roofline, device, "pageable", pageable.get(), bytes);
    auto pinned = device.allocate_host(bytes);
    measure_both_ways(roofline, device, "pinned", pinned.get(), bytes);
    measure_device_memory(roofline, device, bytes);
    if (bytes >= least_read) measure_reading(roofline, device, bytes);
  } catch (const Error& error) {
    roofline.not_measured.push_back(
        fmt::format("rates of a GPU at {} bytes: {}", bytes, error.what()));
  }
}

void add_peaks(Roofline& roofline, const DeviceFacts& facts) {
  PathPeak memory{
      "GPU memory, read and written together", facts.memory_gb_per_s,
      facts.memory_gb_per_s ? "its clock x its width" : "the driver tells no clock or width"};
  roofline.peaks.push_back(std::move(memory));
  PathPeak link{"to and from the GPU, each way", std::nullopt,
                "the management library tells no link"};
  if (auto found = GpuProbe(facts.bus_id).link()) {
    link.gb_per_s = found->gb_per_s();
    link.why = fmt::format("PCIe {}.0 x{}", found->generation, found->width);
  }
  roofline.peaks.push_back(std::move(link));
}

}  // namespace

void add_gpu_rates(Roofline& roofline, const std::string& gpu,
                   const std::function<void()>& between) {
  roofline.peaks.push_back(
      {"host memory", std::nullopt, "programs are not told its clock and channels"});
  try {
    Device& device = open_device(gpu);
    add_peaks(roofline, device.facts());
    for (double size : copy_sizes()) {
      measure_size(roofline, device, static_cast<std::size_t>(size));
      between();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    roofline.not_measured.push_back(std::string("rates of a GPU: ") + error.what());
  }
}

namespace {

// A kernel without a body, launched in every way that runs use.
class Launches {
 public:
  explicit Launches(Device& device) : device_(device), queue_(device.make_queue()) {
    bool is_gpu = device.target().kind == DeviceKind::cuda;
    threads_ = is_gpu ? device.target().block_threads : 1;
    loop::Kernel kernel;
    kernel.name = "fl_nothing";
    kernel.threads = threads_;
    kernel_ = device.compile(kernel);
  }

  double until_done(int times) {
    return seconds([&] {
      for (int i = 0; i < times; ++i) {
        launch();
        queue_->wait();
      }
    });
  }
  double in_a_row(int times) {
    return seconds([&] {
      for (int i = 0; i < times; ++i) launch();
      queue_->wait();
    });
  }
  bool can_record() const { return queue_->record_refusal().empty(); }
  // Recordings of a hundred.
  double recorded(int hundreds) {
    if (!recording_) {
      queue_->begin_record();
      for (int i = 0; i < recorded_launches; ++i) launch();
      recording_ = queue_->end_record();
    }
    return seconds([&] {
      for (int i = 0; i < hundreds; ++i) queue_->replay(*recording_);
      queue_->wait();
    });
  }
  static constexpr int recorded_launches = 100;

 private:
  void launch() { queue_->launch({kernel_.get(), {}, {}, {}, 1, threads_}); }
  template <class Work>
  static double seconds(Work work) {
    auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  Device& device_;
  std::unique_ptr<Queue> queue_;
  int threads_ = 1;
  std::shared_ptr<const CompiledKernel> kernel_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace

void add_launch_costs(Roofline& roofline, const std::string& name) {
  try {
    Device& device = open_device(name);
    Launches launches(device);
    auto add = [&](const char* how, Estimate us) {
      roofline.launches.push_back({device.target().name, how, us});
    };
    add("one, until it is done",
        measure_each_us([&](int times) { return launches.until_done(times); }));
    add("each of many in a row",
        measure_each_us([&](int times) { return launches.in_a_row(times); }));
    if (!launches.can_record()) return;
    Estimate hundred = measure_each_us([&](int times) { return launches.recorded(times); });
    constexpr double count = Launches::recorded_launches;
    add("each of a hundred in a recording",
        {hundred.value / count, hundred.low / count, hundred.high / count, hundred.n});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    roofline.not_measured.push_back(std::string("the cost of a launch: ") + error.what());
  }
}

}  // namespace fuseline::cli
