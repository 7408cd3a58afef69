// The session of a CUDA benchmark, and graphs made by hand.
#include "cuda/session.hpp"

#include <utility>

#include "base/fail.hpp"
#include "device/cuda/nvrtc.hpp"

namespace fuseline::bench {
namespace {

using cuda::check;
using cuda::device_end;
using cuda::driver;
using cuda::pointer;

}  // namespace

Session::Session(Device& device) : device_(device) {
  // The device's own context, which stays current for the whole benchmark.
  FUSELINE_CUDA(primary_retain(&context_, device.id().index));
  FUSELINE_CUDA(context_push(context_));
  FUSELINE_CUDA(stream_create(&stream_, driver_api::stream_non_blocking));
}

Session::~Session() {
  driver().stream_wait(stream_);
  for (driver_api::Module module : modules_) driver().module_unload(module);
  driver().stream_destroy(stream_);
  driver_api::Context popped = nullptr;
  memory_.clear();
  driver().context_pop(&popped);
}

char* Session::allocate(std::size_t bytes) {
  memory_.push_back(device_.allocate(bytes));
  fill(memory_.back().get(), 0, bytes);
  return static_cast<char*>(memory_.back().get());
}

void Session::upload(void* to, const void* from, std::size_t bytes) {
  FUSELINE_CUDA(copy_to_device(pointer(to), from, bytes, stream_));
  wait();
}

void Session::download(void* to, const void* from, std::size_t bytes) {
  FUSELINE_CUDA(copy_to_host(to, pointer(from), bytes, stream_));
  wait();
}

void Session::fill(void* memory, unsigned char byte, std::size_t bytes) {
  FUSELINE_CUDA(fill_bytes(pointer(memory), byte, bytes, stream_));
  wait();
}

void Session::wait() { FUSELINE_CUDA(stream_wait(stream_)); }

void Session::compile(const std::string& source, const std::string& name) {
  static constexpr const char* options[] = {"--std=c++17"};
  auto compiled =
      cuda::compile_cuda(source, name, fmt::format("sm_{}", device_.target().sm), options);
  driver_api::Module module = nullptr;
  FUSELINE_CUDA(module_load(&module, compiled.code.data()));
  modules_.push_back(module);
}

HandKernel Session::kernel(const std::string& name) const {
  HandKernel kernel;
  for (driver_api::Module module : modules_)
    if (driver().module_function(&kernel.function, module, name.c_str()) == driver_api::success) {
      FUSELINE_CUDA(
          function_attribute(&kernel.registers, driver_api::function_registers, kernel.function));
      FUSELINE_CUDA(function_attribute(&kernel.spill_bytes, driver_api::function_local_bytes,
                                       kernel.function));
      return kernel;
    }
  fail_internal("no hand-written kernel is named " + name);
}

int Session::attribute(driver_api::Attribute which) const {
  driver_api::Device device = 0;
  FUSELINE_CUDA(device_get(&device, device_.id().index));
  int value = 0;
  FUSELINE_CUDA(device_attribute(&value, which, device));
  return value;
}

Recorded::Recorded(Session& session, driver_api::Graph graph) : session_(session), graph_(graph) {
  FUSELINE_CUDA(graph_instantiate(&exec_, graph_, 0));
}

Recorded::~Recorded() {
  driver().stream_wait(session_.stream());
  driver().exec_destroy(exec_);
  driver().graph_destroy(graph_);
}

void Recorded::replay(int times) const {
  for (int i = 0; i < times; ++i) FUSELINE_CUDA(exec_launch(exec_, session_.stream()));
}

Recorder::Recorder(Session& session) : session_(session) {
  FUSELINE_CUDA(graph_create(&graph_, 0));
}

Recorder::~Recorder() {
  if (graph_) driver().graph_destroy(graph_);
}

void Recorder::launch(driver_api::Function function, std::int64_t blocks, int threads,
                      std::span<const std::uint64_t> arguments) {
  std::vector<void*> pointers;
  for (const std::uint64_t& value : arguments)
    pointers.push_back(const_cast<std::uint64_t*>(&value));
  driver_api::KernelNode node = {};
  node.function = function;
  node.grid_x = static_cast<unsigned>(blocks);
  node.block_x = static_cast<unsigned>(threads);
  node.grid_y = node.grid_z = node.block_y = node.block_z = 1;
  node.params = pointers.data();
  driver_api::Node added = nullptr;
  FUSELINE_CUDA(graph_add_kernel(&added, graph_, before(), last_ ? 1 : 0, &node));
  last_ = added;
}

void Recorder::copy(void* to, const void* from, std::size_t bytes) {
  driver_api::CopyNode node = {};
  node.source = device_end(from);
  node.target = device_end(to);
  node.width_bytes = bytes;
  node.height = node.depth = 1;
  driver_api::Node added = nullptr;
  FUSELINE_CUDA(graph_add_copy(&added, graph_, before(), last_ ? 1 : 0, &node, session_.context()));
  last_ = added;
}

std::shared_ptr<Recorded> Recorder::finish() {
  return std::make_shared<Recorded>(session_, std::exchange(graph_, nullptr));
}

}  // namespace fuseline::bench
