// Lane: binds buffers to an Instance and launches its steps.
#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "program/program_impl.hpp"

namespace fuseline {
namespace {

constexpr std::size_t ticket_stride = 64;  // steps do not share a cache line
constexpr std::size_t dummy_bytes = 256;

// The bytes that a tensor reaches, for overlap checks.
std::pair<const char*, const char*> byte_range(const Tensor& tensor) {
  std::int64_t low = 0, high = 0;
  for (std::size_t axis = 0; axis < tensor.shape().size(); ++axis) {
    std::int64_t reach = (tensor.shape()[axis] - 1) * tensor.strides()[axis];
    (reach < 0 ? low : high) += reach;
  }
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  const char* base = tensor.as<const char>();
  return {base + low * width, base + (high + 1) * width};
}

bool overlap(const Tensor& a, const Tensor& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  auto [a0, a1] = byte_range(a);
  auto [b0, b1] = byte_range(b);
  return a0 < b1 && b0 < a1;
}

void check_output(const NamedValue& declared, DType dtype, const Shape& shape,
                  const Tensor& given) {
  if (given.dtype() != dtype)
    fail("output {}: element type {} received, {} expected", declared.name, name_of(given.dtype()),
         name_of(dtype));
  if (given.shape() != shape)
    fail("output {}: shape {} received, {} expected", declared.name, to_string(given.shape()),
         to_string(shape));
  if (!given.is_dense())
    fail("output {}: the tensor has gaps between its elements, a dense one is needed",
         declared.name);
  if (given.size() > 0 && !given.data()) fail("output {}: the tensor has no memory", declared.name);
}

std::size_t position_of(const TensorMap& tensors, const std::string& name, const char* kind) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].first == name) return i;
  fail("{} {} is missing", kind, name);
}

void check_outputs(const Program::Impl& program, const Instance& instance, const TensorMap& inputs,
                   const TensorMap& outputs) {
  const auto& declared = program.graph.outputs();
  if (outputs.size() != declared.size())
    fail("{} output tensors given, the graph has {}", outputs.size(), declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Tensor& given = outputs[position_of(outputs, declared[i].name, "output")].second;
    check_output(declared[i], program.graph.type(declared[i].value).dtype,
                 instance.output_shapes[i], given);
    for (const auto& [name, input] : inputs)
      if (overlap(given, input)) fail("output {} overlaps input {}", declared[i].name, name);
    for (std::size_t j = 0; j < i; ++j) {
      const Tensor& other = outputs[position_of(outputs, declared[j].name, "output")].second;
      if (overlap(given, other))
        fail("output {} overlaps output {}", declared[i].name, declared[j].name);
    }
  }
}

}  // namespace

Lane::Impl::Impl(std::shared_ptr<Program::Impl> owner) : program(std::move(owner)) {
  queue_ = program->device.make_queue();
  std::size_t bytes = std::max<std::size_t>(1, program->regions.size()) * ticket_stride;
  tickets_ = program->device.allocate(bytes);
  dummy_ = program->device.allocate(dummy_bytes);
  queue_->fill_zero(tickets_.get(), bytes);
  queue_->fill_zero(dummy_.get(), dummy_bytes);
  queue_->wait();
}

void Lane::Impl::prepare(const Instance& instance) {
  if (instance.arena_bytes <= arena_bytes_) return;
  arena_.reset();
  arena_bytes_ = 0;
  arena_ = program->device.allocate(static_cast<std::size_t>(instance.arena_bytes));
  arena_bytes_ = instance.arena_bytes;
  std::lock_guard lock(program->mutex);
  program->arena_bytes = std::max(program->arena_bytes, static_cast<std::size_t>(arena_bytes_));
}

void Lane::Impl::bind(const Step& step, const TensorMap& inputs, const TensorMap& outputs) {
  pointers_.clear();
  bytes_.clear();
  for (const Place& place : step.places) {
    void* pointer = nullptr;
    std::int64_t bytes = place.bytes;
    auto take = [&](const Tensor& tensor) {
      bool empty = tensor.size() == 0;
      pointer = empty ? dummy_.get() : tensor.data();
      bytes = empty ? static_cast<std::int64_t>(dummy_bytes)
                    : byte_range(tensor).second - tensor.as<const char>();
    };
    switch (place.kind) {
      case Place::Kind::input:
        take(inputs[input_order_[place.index]].second);
        break;
      case Place::Kind::output:
        take(outputs[output_order_[place.index]].second);
        break;
      case Place::Kind::arena:
        pointer = place.bytes > 0 ? static_cast<char*>(arena_.get()) + place.offset : dummy_.get();
        bytes = std::max(place.bytes, static_cast<std::int64_t>(place.bytes > 0 ? 0 : dummy_bytes));
        break;
      case Place::Kind::constant:
        pointer = program->constants[place.index].get();
        break;
      case Place::Kind::ticket:
        pointer = static_cast<char*>(tickets_.get()) + place.index * ticket_stride;
        break;
    }
    pointers_.push_back(pointer);
    bytes_.push_back(bytes);
  }
}

void Lane::Impl::launch(const Step& step) {
  Launch launch{step.kernel->compiled.get(), pointers_, bytes_, step.params, step.blocks};
  if (!observer) {
    queue_->launch(launch);
    return;
  }
  auto begin = Observer::Clock::now();
  queue_->launch(launch);
  queue_->wait();
  observer->on_kernel(step.kernel->lowered.kernel.name, begin, Observer::Clock::now());
}

void Lane::Impl::run(const TensorMap& inputs, const TensorMap& outputs) {
  std::shared_ptr<const Instance> instance = program->instance(inputs);
  check_outputs(*program, *instance, inputs, outputs);
  prepare(*instance);
  input_order_.clear();
  output_order_.clear();
  for (const NamedValue& input : program->graph.inputs())
    input_order_.push_back(position_of(inputs, input.name, "input"));
  for (const NamedValue& output : program->graph.outputs())
    output_order_.push_back(position_of(outputs, output.name, "output"));
  for (const Step& step : instance->steps) {
    bind(step, inputs, outputs);
    launch(step);
  }
  // One value under several names is computed once and copied.
  const auto& names = program->graph.outputs();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i].value == names[j].value) {
        const Tensor& from = outputs[output_order_[j]].second;
        queue_->copy(outputs[output_order_[i]].second.data(), from.data(),
                     static_cast<std::size_t>(from.bytes()));
        break;
      }
  queue_->wait();
}

Lane::Lane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Lane::~Lane() = default;
Lane::Lane(Lane&&) noexcept = default;
Lane& Lane::operator=(Lane&&) noexcept = default;
void Lane::run(const TensorMap& inputs, const TensorMap& outputs) { impl_->run(inputs, outputs); }
void Lane::set_observer(Observer* observer) { impl_->observer = observer; }

}  // namespace fuseline
