// Launches of a foreign kernel on its own stream.
#include "foreign/timed_kernel.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "device/cuda/driver.hpp"
#include "graph/check_sizes.hpp"

namespace fuseline::foreign {

using namespace cuda;

struct TimedKernel::Impl {
  struct Cleared {
    std::size_t argument = 0, bytes = 0;
  };

  const Contract& contract;
  LaunchWish wish;
  driver_api::Context context = nullptr;
  driver_api::Stream stream = nullptr;
  driver_api::Module module = nullptr;
  driver_api::Function function = nullptr;
  Grid grid;
  std::vector<int> sizes;
  std::vector<Cleared> cleared;

  Impl(const std::string& image, const Contract& wanted, const LaunchWish& launch, int index)
      : contract(wanted), wish(launch) {
    driver_api::Device device = 0;
    FUSELINE_CUDA(device_get(&device, index));
    FUSELINE_CUDA(primary_retain(&context, device));
    ContextScope scope(context);
    FUSELINE_CUDA(stream_create(&stream, driver_api::stream_non_blocking));
    FUSELINE_CUDA(module_load(&module, image.c_str()));
    FUSELINE_CUDA(module_function(&function, module, contract.kernel.c_str()));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    in_context_if_alive(context, [&] {
      driver().module_unload(module);
      driver().stream_destroy(stream);
    });
  }
};

TimedKernel::TimedKernel(const std::string& image, const Contract& contract, const LaunchWish& wish,
                         int index)
    : impl_(std::make_unique<Impl>(image, contract, wish, index)) {}
TimedKernel::~TimedKernel() = default;

void TimedKernel::bind(const DimBindings& sizes) {
  const Contract& contract = impl_->contract;
  impl_->grid = grid_over(impl_->wish, shape_of(contract.space, sizes));
  impl_->sizes.clear();
  for (const std::string& symbol : contract.symbols)
    impl_->sizes.push_back(static_cast<int>(sizes.at(symbol)));
  impl_->cleared.clear();
  for (std::size_t i = 0; i < contract.arguments.size(); ++i) {
    const Argument& argument = contract.arguments[i];
    if (!argument.is_cleared) continue;
    auto count = static_cast<std::size_t>(element_count(shape_of(argument.dims, sizes)));
    impl_->cleared.push_back({i, count * size_of(argument.dtype)});
  }
}

void TimedKernel::launch(std::span<void* const> arguments) {
  Impl& it = *impl_;
  require(arguments.size() == it.contract.arguments.size(), "a launch with other arguments");
  ContextScope scope(it.context);
  for (const Impl::Cleared& one : it.cleared)
    FUSELINE_CUDA(fill_bytes(pointer(arguments[one.argument]), 0, one.bytes, it.stream));
  std::vector<driver_api::Pointer> pointers;
  for (void* address : arguments) pointers.push_back(pointer(address));
  std::vector<void*> values;
  for (driver_api::Pointer& address : pointers) values.push_back(&address);
  for (int& size : it.sizes) values.push_back(&size);
  FUSELINE_CUDA(launch(it.function, static_cast<unsigned>(it.grid.x),
                       static_cast<unsigned>(it.grid.y), 1,
                       static_cast<unsigned>(it.wish.threads_x),
                       static_cast<unsigned>(std::max(it.wish.threads_y, 1)), 1, 0, it.stream,
                       values.data(), nullptr));
}

void TimedKernel::wait() {
  ContextScope scope(impl_->context);
  FUSELINE_CUDA(stream_wait(impl_->stream));
}

void* TimedKernel::stream() const { return impl_->stream; }

}  // namespace fuseline::foreign
