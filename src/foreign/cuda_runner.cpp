// Foreign kernels on the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/fail.hpp"
#include "device/cuda/driver.hpp"
#include "foreign/runner.hpp"

namespace fuseline::foreign {
namespace {

using namespace cuda;
constexpr std::chrono::seconds longest{60};

driver_api::Device device_at(int index) {
  driver_api::Device device = 0;
  FUSELINE_CUDA(device_get(&device, index));
  return device;
}

driver_api::Context primary_context(driver_api::Device device) {
  driver_api::Context context = nullptr;
  FUSELINE_CUDA(primary_retain(&context, device));
  return context;
}

// Device memory for the length of a run. After a fault of the kernel nothing can be freed.
class Memory {
 public:
  explicit Memory(std::size_t bytes) { FUSELINE_CUDA(memory_allocate(&at_, bytes)); }
  Memory(Memory&& other) noexcept : at_(std::exchange(other.at_, 0)) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (at_) driver().memory_free(at_);
  }
  driver_api::Pointer at() const { return at_; }
  // Left to the end of the process: freeing would wait for a kernel that never ends.
  void forget() { at_ = 0; }

 private:
  driver_api::Pointer at_ = 0;
};

class CudaRunner final : public Runner {
 public:
  CudaRunner(const std::string& image, const Contract& contract, int index)
      : device_(device_at(index)), context_(primary_context(device_)) {
    ContextScope scope(context_);
    char name[256] = {};
    FUSELINE_CUDA(device_name(name, sizeof name, device_));
    name_ = name;
    FUSELINE_CUDA(stream_create(&stream_, driver_api::stream_non_blocking));
    FUSELINE_CUDA(module_load(&module_, image.c_str()));
    FUSELINE_CUDA(module_function(&function_, module_, contract.kernel.c_str()));
  }
  CudaRunner(const CudaRunner&) = delete;
  CudaRunner& operator=(const CudaRunner&) = delete;
  ~CudaRunner() override {
    if (lost_) return;
    in_context_if_alive(context_, [&] {
      driver().module_unload(module_);
      driver().stream_destroy(stream_);
    });
  }

  std::string name() const override { return name_; }
  bool is_lost() const override { return lost_; }

  std::string run(std::vector<Buffer>& buffers, const ForeignLaunch& launch) override {
    ContextScope scope(context_);
    std::vector<Memory> memory;
    for (Buffer& buffer : buffers) {
      memory.emplace_back(buffer.total());
      FUSELINE_CUDA(copy_to_device(memory.back().at(), buffer.memory(), buffer.total(), stream_));
    }
    std::string fault = launch_and_wait(buffers, memory, launch);
    if (lost_)
      for (Memory& piece : memory) piece.forget();
    if (!fault.empty()) return fault;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      FUSELINE_CUDA(copy_to_host(buffers[i].memory(), memory[i].at(), buffers[i].total(), stream_));
    FUSELINE_CUDA(stream_wait(stream_));
    return {};
  }

 private:
  std::string launch_and_wait(const std::vector<Buffer>& buffers, const std::vector<Memory>& memory,
                              const ForeignLaunch& launch) {
    std::vector<driver_api::Pointer> pointers;
    std::vector<int> sizes = launch.sizes;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      pointers.push_back(memory[i].at() + buffers[i].begin());
    std::vector<void*> arguments;
    for (driver_api::Pointer& pointer : pointers) arguments.push_back(&pointer);
    for (int& size : sizes) arguments.push_back(&size);
    FUSELINE_CUDA(stream_wait(stream_));
    driver_api::Result result = driver().launch(
        function_, static_cast<unsigned>(launch.grid.x), static_cast<unsigned>(launch.grid.y), 1,
        static_cast<unsigned>(launch.wish.threads_x),
        static_cast<unsigned>(std::max(launch.wish.threads_y, 1)), 1, 0, stream_, arguments.data(),
        nullptr);
    if (result != driver_api::success) return "the launch was refused: " + error_text(result);
    auto start = std::chrono::steady_clock::now();
    while ((result = driver().stream_query(stream_)) == driver_api::error_not_ready) {
      if (std::chrono::steady_clock::now() - start > longest) {
        lost_ = true;
        return fmt::format("did not come to its end within {} s", longest.count());
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    if (result == driver_api::success) return {};
    lost_ = true;
    return error_text(result);
  }

  driver_api::Device device_;
  driver_api::Context context_;
  driver_api::Stream stream_ = nullptr;
  driver_api::Module module_ = nullptr;
  driver_api::Function function_ = nullptr;
  std::string name_;
  bool lost_ = false;
};

}  // namespace

int cuda_architecture(int index, std::string* reason) {
  if (!driver().missing.empty()) {
    *reason = driver().missing;
    return 0;
  }
  int count = 0;
  FUSELINE_CUDA(device_count(&count));
  if (index >= count) {
    *reason = fmt::format("there is no CUDA device {}; the driver finds {}", index, count);
    return 0;
  }
  driver_api::Device device = device_at(index);
  return 10 * attribute(device, driver_api::attribute_major) +
         attribute(device, driver_api::attribute_minor);
}

std::unique_ptr<Runner> make_cuda_runner(const std::string& image, const Contract& contract,
                                         int index) {
  return std::make_unique<CudaRunner>(image, contract, index);
}

}  // namespace fuseline::foreign
