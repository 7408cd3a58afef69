// Lane: working memory, and the caller's tensors as the device sees them.
#include <algorithm>
#include <set>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "graph/check_sizes.hpp"
#include "program/program_impl.hpp"

namespace fuseline {
namespace {

constexpr std::size_t ticket_stride = 64;  // steps do not share a cache line
constexpr std::size_t dummy_bytes = 256;
constexpr std::int64_t staging_alignment = 256;

bool overlap(const Tensor& a, const Tensor& b) {
  if (a.size() == 0 || b.size() == 0 || a.device() != b.device()) return false;
  Reach ra = reach_of(a), rb = reach_of(b);
  const char *base_a = a.as<const char>(), *base_b = b.as<const char>();
  return base_a + ra.low < base_b + rb.high && base_b + rb.low < base_a + ra.high;
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

const Tensor& named(const TensorMap& tensors, const std::string& name, const char* kind) {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return tensor;
  fail("{} {} is missing", kind, name);
}

void check_outputs(const Program::Impl& program, const Instance& instance, const TensorMap& inputs,
                   const TensorMap& outputs) {
  const auto& declared = program.graph.outputs();
  if (outputs.size() != declared.size())
    fail("{} output tensors given, the graph has {}", outputs.size(), declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Tensor& given = named(outputs, declared[i].name, "output");
    check_output(declared[i], program.graph.type(declared[i].value).dtype,
                 instance.output_shapes[i], given);
    for (const auto& [name, input] : inputs)
      if (overlap(given, input)) fail("output {} overlaps input {}", declared[i].name, name);
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(given, named(outputs, declared[j].name, "output")))
        fail("output {} overlaps output {}", declared[i].name, declared[j].name);
  }
}

bool all_aligned(const TensorMap& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.second.device().kind == DeviceKind::cpu ||
           reinterpret_cast<std::uintptr_t>(output.second.data()) % 16 == 0;
  });
}

}  // namespace

Reach reach_of(const Tensor& tensor) {
  Reach reach;
  for (std::size_t axis = 0; axis < tensor.shape().size(); ++axis) {
    std::int64_t steps = (tensor.shape()[axis] - 1) * tensor.strides()[axis];
    (steps < 0 ? reach.low : reach.high) += steps;
  }
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  return {reach.low * width, (reach.high + 1) * width};
}

Lane::Impl::Impl(std::shared_ptr<Program::Impl> owner) : program(std::move(owner)) {
  if (auto check = env(EnvVar::check)) {
    if (*check != "each")
      fail("{}: \"{}\" is not known; the one check is each", name_of(EnvVar::check), *check);
    check_each_ = true;
  }
  std::set<ValueId> values;
  for (const NamedValue& output : program->graph.outputs())
    copies_outputs_ = !values.insert(output.value).second || copies_outputs_;
  queue_ = program->device.make_queue();
  arena_ = program->device.make_arena();
  staging_ = program->device.make_arena();
  std::size_t bytes = std::max<std::size_t>(1, program->tasks.size()) * ticket_stride;
  tickets_ = program->device.allocate(bytes);
  dummy_ = program->device.allocate(dummy_bytes);
  queue_->fill_zero(tickets_.get(), bytes);
  queue_->fill_zero(dummy_.get(), dummy_bytes);
  queue_->wait();
}

// Recordings hold addresses: they go when the memory moves.
void Lane::Impl::reserve(Arena& arena, void*& base, std::int64_t& bytes, std::int64_t wanted) {
  if (wanted <= bytes) return;
  if (captured_)
    fail_device("this size needs more working memory; run it once before the stream is captured");
  queue_->wait();  // work on an earlier stream may still use what is mapped
  if (arena.moves()) {
    states_.clear();
    timed_.reset();
  }
  base = nullptr;
  bytes = 0;
  base = arena.grow(static_cast<std::size_t>(wanted));
  bytes = wanted;
}

void Lane::Impl::prepare(const Instance& instance) {
  if (instance.arena_bytes <= arena_bytes_) return;
  reserve(*arena_, arena_base_, arena_bytes_, instance.arena_bytes);
  std::lock_guard lock(program->mutex);
  program->arena_bytes = std::max(program->arena_bytes, static_cast<std::size_t>(arena_bytes_));
}

// Tensors in the device's own memory are used where they are; on a CPU that is all of them.
void Lane::Impl::place(const Tensor& tensor, const std::string& name, External& external,
                       std::int64_t& staged) {
  external = {};
  if (tensor.size() == 0) {
    external.device = dummy_.get();
    external.bytes = static_cast<std::int64_t>(dummy_bytes);
    return;
  }
  Reach reach = reach_of(tensor);
  external.bytes = reach.high;
  if (tensor.device() == program->device.id()) {
    external.device = tensor.data();
    return;
  }
  if (tensor.device().kind != DeviceKind::cpu)
    fail("{} is in the memory of cuda:{}, the Program runs on {}", name, tensor.device().index,
         program->device.target().name);
  // Offsets for now; place_externals adds the base when it is known.
  external.host = tensor.as<const char>() + reach.low;
  external.copy_bytes = static_cast<std::size_t>(reach.high - reach.low);
  external.staged = reinterpret_cast<void*>(staged);
  external.device = reinterpret_cast<void*>(staged - reach.low);
  staged +=
      (reach.high - reach.low + staging_alignment - 1) / staging_alignment * staging_alignment;
}

void Lane::Impl::place_externals(const TensorMap& inputs, const TensorMap& outputs) {
  std::int64_t staged = 0;
  inputs_.resize(program->graph.inputs().size());
  outputs_.resize(program->graph.outputs().size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const std::string& name = program->graph.inputs()[i].name;
    place(named(inputs, name, "input"), name, inputs_[i], staged);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::string& name = program->graph.outputs()[i].name;
    place(named(outputs, name, "output"), name, outputs_[i], staged);
  }
  reserve(*staging_, staging_base_, staging_bytes_, staged);
  auto base = reinterpret_cast<std::uintptr_t>(staging_base_);
  for (std::vector<External>* externals : {&inputs_, &outputs_})
    for (External& external : *externals) {
      if (!external.host) continue;
      external.staged =
          reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(external.staged) + base);
      external.device =
          reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(external.device) + base);
    }
}

void Lane::Impl::bind(const Step& step) {
  pointers_.clear();
  bytes_.clear();
  for (const Place& place : step.places) {
    void* pointer = nullptr;
    std::int64_t bytes = place.bytes;
    auto take = [&](const External& external) {
      pointer = external.device;
      bytes = external.bytes;
    };
    switch (place.kind) {
      case Place::Kind::input:
        take(inputs_[place.index]);
        break;
      case Place::Kind::output:
        take(outputs_[place.index]);
        break;
      case Place::Kind::arena:
        pointer = bytes > 0 ? static_cast<char*>(arena_base_) + place.offset : dummy_.get();
        if (bytes == 0) bytes = static_cast<std::int64_t>(dummy_bytes);
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

void Lane::Impl::submit(const TensorMap& inputs, const TensorMap& outputs) {
  bool aligned = all_aligned(outputs);
  running_ =
      captured_ ? program->known_instance(inputs, aligned) : program->instance(inputs, aligned);
  if (!running_) fail("a size that has not run yet; run it once before the stream is captured");
  check_outputs(*program, *running_, inputs, outputs);
  prepare(*running_);
  place_externals(inputs, outputs);
  execute(running_);
}

std::string Lane::Impl::suspects() const {
  if (checked_) return fmt::format("kernel {}", checked_->name());
  if (!running_ || running_->steps.empty()) return "its copies";
  if (running_->steps.size() == 1) return fmt::format("kernel {}", running_->steps[0].name());
  return fmt::format("one of its {} kernels ({}=each tells which)", running_->steps.size(),
                     name_of(EnvVar::check));
}

// Work that was issued before a failure still uses the caller's memory, which may go now.
void Lane::Impl::settle() noexcept {
  if (captured_) return;
  try {
    queue_->wait();
  } catch (const std::exception&) {  // the failure itself is what the caller hears
  }
}

// What the device does not recover from ends the Program: no result and no time after it.
template <class Work>
void Lane::Impl::guarded(Work&& work) {
  program->refuse_if_lost();
  ++runs_;
  running_.reset();
  checked_ = nullptr;
  try {
    work();
  } catch (const Error& error) {
    settle();
    std::string why = error.kind() == ErrorKind::device ? queue_->lost() : std::string();
    if (why.empty()) throw;
    std::string what = fmt::format("run {} failed on {} in {}: {}; start a new process", runs_,
                                   program->device.target().name, suspects(), why);
    program->lose(what);
    fail_device("{}", what);
  } catch (...) {
    settle();
    throw;
  }
}

std::vector<Tensor> Lane::Impl::run_segments(const TensorMap& inputs, const TensorMap& given) {
  if (!segments_) segments_ = std::make_unique<SegmentLanes>(program->segments, program->device);
  bind_sizes(program->graph, inputs);  // what is wrong is said in the graph's own words
  segments_->set_observer(observer);
  return segments_->run(inputs, given, program->graph.outputs());
}

void Lane::Impl::run(const TensorMap& inputs, const TensorMap& outputs) {
  if (!program->segments.empty()) {
    for (const NamedValue& output : program->graph.outputs()) named(outputs, output.name, "output");
    run_segments(inputs, outputs);
    return;
  }
  guarded([&] {
    submit(inputs, outputs);
    queue_->wait();
  });
}

void Lane::Impl::enqueue(const TensorMap& inputs, const TensorMap& outputs, void* stream) {
  if (program->device.id().kind != DeviceKind::cuda)
    fail("enqueue: the Program runs on {}, streams are CUDA's", program->device.target().name);
  if (!program->segments.empty())
    fail("enqueue: sizes of this graph are read on the host while it runs; use run");
  if (!stream) fail("enqueue: no stream; the default stream of CUDA is CU_STREAM_LEGACY");
  struct OwnStreamAgain {
    Impl& lane;
    ~OwnStreamAgain() {
      lane.queue_->use_stream(nullptr);
      lane.captured_ = false;
    }
  } at_end{*this};
  guarded([&] {
    queue_->use_stream(stream);
    captured_ = queue_->is_captured();
    submit(inputs, outputs);
  });
}

Lane::Lane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Lane::~Lane() = default;
Lane::Lane(Lane&&) noexcept = default;
Lane& Lane::operator=(Lane&&) noexcept = default;
void Lane::run(const TensorMap& inputs, const TensorMap& outputs) { impl_->run(inputs, outputs); }
void Lane::enqueue(const TensorMap& inputs, const TensorMap& outputs, void* stream) {
  impl_->enqueue(inputs, outputs, stream);
}
void Lane::set_observer(Observer* observer) { impl_->observer = observer; }

}  // namespace fuseline
