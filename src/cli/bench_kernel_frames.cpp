// Frames in this process: the same memory and the same steps around either kernel.
#include "cli/bench_kernel_frames.hpp"

#include <functional>
#include <string_view>

#include "base/fail.hpp"
#include "cli/kernel_clock.hpp"
#include "foreign/timed_kernel.hpp"
#include "graph/check_sizes.hpp"
#include "ledger/nvml.hpp"
#include "ledger/run_watch.hpp"
#include "ledger/stage_file.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"

namespace fuseline::cli {
namespace {

// One argument of the contract in device memory, and the host's copy of an output.
struct Place {
  std::shared_ptr<void> memory;
  Tensor on_device;
};
using Places = std::vector<Place>;  // in the contract's order

// Kernels on places: ours or somebody's.
class FrameKernels {
 public:
  virtual ~FrameKernels() = default;
  virtual void enqueue(const Places& places) = 0;
  virtual void wait() = 0;
};

class ForeignKernels final : public FrameKernels {
 public:
  ForeignKernels(const foreign::Report& checked, const foreign::Contract& contract, int index,
                 const DimBindings& sizes)
      : kernel_(checked.compiled.image, contract, checked.wish, index) {
    kernel_.bind(sizes);
  }
  void enqueue(const Places& places) override {
    addresses_.clear();
    for (const Place& place : places) addresses_.push_back(place.on_device.data());
    kernel_.launch(addresses_);
  }
  void wait() override { kernel_.wait(); }
  void* stream() const { return kernel_.stream(); }

 private:
  foreign::TimedKernel kernel_;
  std::vector<void*> addresses_;
};

class OurKernels final : public FrameKernels {
 public:
  OurKernels(Device& device, const MaskSettings& settings, const CompileOptions& options,
             const foreign::Contract& contract)
      : program_(compile_on(device, mask_graph(settings), options)),
        lane_(program_.make_lane()),
        contract_(contract) {}
  // Work goes to this stream; without one each run is waited for.
  void use(void* stream) { stream_ = stream; }
  void enqueue(const Places& places) override {
    TensorMap inputs, outputs;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const foreign::Argument& argument = contract_.arguments[i];
      (argument.is_output ? outputs : inputs).emplace_back(argument.of_graph, places[i].on_device);
    }
    lane_.enqueue(inputs, outputs, stream_);
  }
  void wait() override { waiter_(); }
  void wait_with(std::function<void()> waiter) { waiter_ = std::move(waiter); }

 private:
  Program program_;
  Lane lane_;
  const foreign::Contract& contract_;
  void* stream_ = nullptr;
  std::function<void()> waiter_;
};

const std::string& picture_of(const MaskCommand& command) { return command.files.inputs.front(); }

std::uint64_t hash_of(const std::vector<Tensor>& outputs) {
  std::uint64_t hash = 0;
  for (const Tensor& output : outputs) {
    std::string_view bytes(output.as<const char>(), static_cast<std::size_t>(output.bytes()));
    hash = hash * 31 + std::hash<std::string_view>()(bytes);
  }
  return hash;
}

}  // namespace

MaskSettings frame_settings(const MaskCommand& command) {
  MaskSettings settings = command.graph.settings();
  settings.channels =
      static_cast<int>(probe_image(picture_of(command), command.batch().read).channels);
  return settings;
}

struct KernelFrames::Impl {
  struct Side {
    std::unique_ptr<FrameKernels> kernels;
    int burst = 16;  // launches that last a millisecond at least
  };

  const MaskCommand& command;
  const foreign::Contract& contract;
  int index;
  BatchOptions batch;
  Device& device;
  std::unique_ptr<Queue> queue;
  ScratchFolder folder;
  Image picture;
  DimBindings sizes;
  // More than the second-level cache holds, so that a kernel alone meets its data in memory.
  std::vector<Places> sets;
  std::vector<Tensor> results;  // on the host, of the outputs
  std::vector<Side> sides;
  OurKernels* ours = nullptr;
  ForeignKernels* theirs = nullptr;
  GpuWatch gpus;

  Impl(const MaskCommand& mask, const foreign::Contract& wanted, int gpu)
      : command(mask),
        contract(wanted),
        index(gpu),
        batch(mask.batch()),
        device(open_device("cuda:" + std::to_string(gpu))),
        queue(device.make_queue()),
        picture(read_image(picture_of(mask), batch.read)) {
    constexpr int rotating = 4;
    NamedTensor frame{contract.arguments[0].of_graph, picture.pixels};
    sizes = bind_sizes(contract.graph, {&frame, 1});
    for (int i = 0; i < rotating; ++i) sets.push_back(make_places());
    for (const foreign::Argument& argument : contract.arguments)
      if (argument.is_output)
        results.push_back(Tensor::allocate(argument.dtype, shape_of(argument.dims, sizes)));
    for (const Places& places : sets) upload(places);
  }

  Places make_places() const {
    Places places;
    for (const foreign::Argument& argument : contract.arguments) {
      Shape shape = shape_of(argument.dims, sizes);
      auto bytes = static_cast<std::size_t>(element_count(shape)) * size_of(argument.dtype);
      Place place;
      place.memory = device.allocate(std::max<std::size_t>(bytes, 1));
      place.on_device = Tensor(place.memory.get(), argument.dtype, shape, device.id());
      places.push_back(std::move(place));
    }
    return places;
  }

  void upload(const Places& places) const {
    queue->upload(places[0].on_device.data(), picture.pixels.data(),
                  static_cast<std::size_t>(picture.pixels.bytes()));
    queue->wait();
  }
  void download(const Places& places) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < contract.arguments.size(); ++i)
      if (contract.arguments[i].is_output) {
        const Tensor& to = results[next++];
        queue->download(to.data(), places[i].on_device.data(),
                        static_cast<std::size_t>(to.bytes()));
      }
    queue->wait();
  }
  void encode() const {
    for (const Tensor& result : results)
      if (result.shape().size() == 2) write_mask(folder / "mask.png", result, batch.one_bit);
  }

  // Milliseconds of one run of the kernels, out of many back to back.
  double alone(Side& side) const {
    constexpr double least_ms = 1;
    constexpr int most = 1 << 20;
    for (;;) {
      double ms = timed([&] {
        for (int i = 0; i < side.burst; ++i)
          side.kernels->enqueue(sets[static_cast<std::size_t>(i) % sets.size()]);
        side.kernels->wait();
      });
      if (ms >= least_ms || side.burst >= most) return ms / side.burst;
      side.burst *= 2;
    }
  }

  void see(RunSample& sample) const {
    auto use = gpus.look();
    if (!use) return;
    sample.seen[seen::gpu_peak_bytes] = static_cast<double>(use->memory_used);
    if (use->sm_clock_mhz) sample.seen[seen::gpu_mhz] = *use->sm_clock_mhz;
  }
};

KernelFrames::KernelFrames(const MaskCommand& command, const foreign::Contract& contract, int index)
    : impl_(std::make_unique<Impl>(command, contract, index)) {}
KernelFrames::~KernelFrames() = default;

void KernelFrames::add_ours() {
  auto ours = std::make_unique<OurKernels>(impl_->device, frame_settings(impl_->command),
                                           impl_->command.graph.compile_options(), impl_->contract);
  impl_->ours = ours.get();
  impl_->sides.push_back({std::move(ours)});
}

void KernelFrames::add(const foreign::Report& checked) {
  auto theirs =
      std::make_unique<ForeignKernels>(checked, impl_->contract, impl_->index, impl_->sizes);
  impl_->theirs = theirs.get();
  impl_->sides.push_back({std::move(theirs)});
  // Both sides are timed on one stream.
  if (!impl_->ours) return;
  impl_->ours->use(impl_->theirs->stream());
  impl_->ours->wait_with([kernels = impl_->theirs] { kernels->wait(); });
}

RunSample KernelFrames::run(std::size_t number) {
  Impl& it = *impl_;
  Impl::Side& side = it.sides[number];
  const Places& places = it.sets.front();
  RunSample sample;
  sample.begin = monotonic_now();
  auto stage = [&](const char* name, auto action) {
    Nanoseconds begin = monotonic_now();
    action();
    sample.spans.push_back({name, 0, begin, monotonic_now(), false});
  };
  stage("decode", [&] { it.picture = read_image(picture_of(it.command), it.batch.read); });
  stage("upload", [&] { it.upload(places); });
  stage(kernels_stage, [&] {
    side.kernels->enqueue(places);
    side.kernels->wait();
  });
  stage("download", [&] { it.download(places); });
  if (it.results.size() > 1) stage("encode", [&] { it.encode(); });
  sample.account = close_account(sample.spans, sample.begin, monotonic_now());
  sample.output_hash = hash_of(it.results);
  sample.seen[seen::kernel_alone_ms] = it.alone(side);
  it.see(sample);
  return sample;
}

}  // namespace fuseline::cli
