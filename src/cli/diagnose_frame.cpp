// Blocks of a real, a null and an observed frame in random order, then bursts of the kernels.
#include "cli/diagnose_frame.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "cli/diagnose_null_device.hpp"
#include "cli/interrupt.hpp"
#include "cli/kernel_clock.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"

namespace fuseline::cli {
namespace {

using Clock = Observer::Clock;

CompileOptions with_fusion(CompileOptions options, bool fusion) {
  options.fusion = fusion;
  return options;
}

// A program, run in a Lane of its own.
class Pipeline {
 public:
  Pipeline(Device& device, const MaskSettings& settings, const CompileOptions& options)
      : program_(compile_on(device, mask_graph(settings), options)), lane_(program_.make_lane()) {}

  void run(const Image& picture, const Tensor& mask) {
    std::int64_t area = 0;
    lane_.run(mask_inputs(picture.pixels), mask_outputs(mask, area));
  }
  // The time of the kernels alone; nothing is recorded while they are observed.
  double kernels_of(const Image& picture, const Tensor& mask) {
    clock_.reset();
    lane_.set_observer(&clock_);
    run(picture, mask);
    lane_.set_observer(nullptr);
    return clock_.ms();
  }
  // The median of a few runs behind one that meets what others left in the caches.
  double burst(const Image& picture, const Tensor& mask) {
    constexpr int runs = 5;
    std::vector<double> times;
    run(picture, mask);
    for (int i = 0; i < runs; ++i) times.push_back(timed([&] { run(picture, mask); }));
    return median(times);
  }

 private:
  Program program_;
  Lane lane_;
  KernelClock clock_;
};

// Every buffer of a launch counts once: what it must read or write at least.
Traffic traffic_of(Device& device, const MaskSettings& settings, const CompileOptions& options,
                   const Image& picture) {
  Program::Impl program(mask_graph(settings), options, device);
  TensorMap inputs = mask_inputs(picture.pixels);
  auto instance = program.instance(inputs);
  Traffic traffic;
  for (const Step& step : instance->steps) {
    ++traffic.launches;
    for (const Place& place : step.places) {
      std::int64_t bytes = place.bytes;
      if (place.kind == Place::Kind::input) bytes = picture.pixels.bytes();
      if (place.kind == Place::Kind::output) {
        const NamedValue& output = program.graph.outputs()[place.index];
        bytes = element_count(instance->output_shapes[place.index]) *
                static_cast<std::int64_t>(size_of(program.graph.type(output.value).dtype));
      }
      traffic.bytes += static_cast<double>(bytes);
    }
  }
  return traffic;
}

MaskSettings settings_for(const MaskCommand& command) {
  MaskSettings settings = command.graph.settings();
  settings.channels =
      static_cast<int>(probe_image(command.picture(), command.batch().read).channels);
  return settings;
}

class Experiments {
 public:
  explicit Experiments(const MaskCommand& command)
      : command_(command),
        batch_(command.batch()),
        settings_(settings_for(command)),
        options_(command.graph.compile_options()),
        device_(open_device(options_.device)),
        null_(device_),
        unfused_(device_, settings_, with_fusion(options_, false)),
        fused_(device_, settings_, with_fusion(options_, true)),
        null_unfused_(null_, settings_, with_fusion(options_, false)),
        null_fused_(null_, settings_, with_fusion(options_, true)) {}

  FrameExperiments take(double seconds, const Roofline& roofline) {
    warm_up();
    constexpr std::size_t least = 9, most = 101;
    auto begin = Clock::now();
    for (std::size_t n = 0; n < most; ++n) {
      if (n >= least && milliseconds(Clock::now() - begin) > 1000 * seconds) break;
      stop_if_interrupted();
      frames();
      kernels();
    }
    measure_traffic(roofline);
    return std::move(result_);
  }

 private:
  Pipeline& real() { return options_.fusion ? fused_ : unfused_; }
  Pipeline& null() { return options_.fusion ? null_fused_ : null_unfused_; }

  void decode() { picture_ = read_image(command_.picture(), batch_.read); }
  void encode() {
    if (mask_) write_mask(folder_ / "mask.png", mask_, batch_.one_bit);
  }

  void warm_up() {
    decode();
    if (settings_.with_mask) {
      mask_ = Tensor::allocate(DType::u8, {picture_.height(), picture_.width()});
      nowhere_ = Tensor::allocate(DType::u8, {picture_.height(), picture_.width()});
    }
    for (Pipeline* one : {&unfused_, &null_unfused_, &null_fused_, &fused_})
      for (int i = 0; i < 3; ++i)
        one->run(picture_, one == &null_fused_ || one == &null_unfused_ ? nowhere_ : mask_);
    encode();
  }

  void frames() {
    std::array order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), engine_);
    for (int which : order) {
      if (which == 0)
        result_.null_run.real.push_back(timed([&] {
          decode();
          real().run(picture_, mask_);
          encode();
        }));
      if (which == 1)
        result_.null_run.null.push_back(timed([&] {
          decode();
          null().run(picture_, nowhere_);
          encode();
        }));
      if (which == 2) {
        decode();
        result_.null_run.kernels.push_back(real().kernels_of(picture_, mask_));
        encode();
      }
    }
  }

  void kernels() {
    GainRun& gain = result_.gain;
    std::array order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), engine_);
    for (int which : order) {
      if (which == 0) gain.before_ms.push_back(unfused_.burst(picture_, mask_));
      if (which == 1) gain.after_ms.push_back(fused_.burst(picture_, mask_));
      if (which == 2) gain.null_before_ms.push_back(null_unfused_.burst(picture_, nowhere_));
      if (which == 3) gain.null_after_ms.push_back(null_fused_.burst(picture_, nowhere_));
    }
  }

  // A copy of n bytes reads n and writes n. Device memory is not measured here.
  void measure_traffic(const Roofline& roofline) {
    GainRun& gain = result_.gain;
    gain.before = traffic_of(device_, settings_, with_fusion(options_, false), picture_);
    gain.after = traffic_of(device_, settings_, with_fusion(options_, true), picture_);
    if (device_.target().kind != DeviceKind::cpu) return;
    auto bytes = static_cast<double>(picture_.pixels.bytes());
    if (auto rate = rate_near(roofline, host_path(device_.target().processors), bytes))
      gain.bytes_per_ms = 2 * *rate * 1e6;
  }

  const MaskCommand& command_;
  BatchOptions batch_;
  MaskSettings settings_;
  CompileOptions options_;
  Device& device_;
  NullKernelDevice null_;
  Pipeline unfused_, fused_, null_unfused_, null_fused_;
  ScratchFolder folder_;
  Image picture_;
  Tensor mask_, nowhere_;
  std::minstd_rand engine_{1};
  FrameExperiments result_;
};

}  // namespace

FrameExperiments measure_frames(const MaskCommand& command, double seconds,
                                const Roofline& roofline) {
  return Experiments(command).take(seconds, roofline);
}

}  // namespace fuseline::cli
