// Uploads and downloads of 4 KB to 256 MB.
#include "cli/diagnose_copies.hpp"

#include <chrono>
#include <cstring>
#include <memory>

#include "base/fail.hpp"
#include "program/device_registry.hpp"

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

}  // namespace

void add_device_copies(Roofline& roofline, const std::function<void()>& between) {
  try {
    Device& device = open_device("cuda");
    for (double size : copy_sizes()) {
      auto bytes = static_cast<std::size_t>(size);
      auto pageable = std::make_unique<char[]>(bytes);
      measure_both_ways(roofline, device, "pageable", pageable.get(), bytes);
      auto pinned = device.allocate_host(bytes);
      measure_both_ways(roofline, device, "pinned", pinned.get(), bytes);
      between();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    roofline.not_measured.push_back(std::string("copies to and from a GPU: ") + error.what());
  }
}

}  // namespace fuseline::cli
