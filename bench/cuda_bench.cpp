// Kernel times on a CUDA device: rotating frames inside one recording, beside copies of the same
// bytes and hand-written kernels in the same run.
//
//   cuda_bench
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "device/cuda/kernel.hpp"
#include "device/cuda/nvrtc.hpp"
#include "emit/cuda_c/print.hpp"
#include "fuseline/ops.hpp"
#include "ledger/stats.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"

namespace fuseline {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t height = 2160, width = 3840, pixels = height * width;
constexpr int frames = 16;  // 530 MB: far more than three times the second-level cache

const char* baselines = R"(
extern "C" __global__ void copy_bytes(const uint4* from, uint4* to, long long n) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) to[i] = from[i];
}
// Reads three bytes for every one it writes, as the mask does.
extern "C" __global__ void stream_3_1(const uint4* from, uint4* to, long long n) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  uint4 a = from[3 * i], b = from[3 * i + 1], c = from[3 * i + 2];
  to[i] = make_uint4(a.x ^ b.y ^ c.z, a.y ^ b.z ^ c.w, a.z ^ b.w ^ c.x, a.w ^ b.x ^ c.y);
}
extern "C" __global__ void read_only(const uint4* from, unsigned* sink, long long n) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  uint4 a = from[3 * i], b = from[3 * i + 1], c = from[3 * i + 2];
  unsigned x = a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w;
  if (x == 0x12345679u) *sink = x;
}
extern "C" __global__ void mask_atomic_per_pixel(const unsigned char* rgb, unsigned char* mask,
                                                 unsigned long long* area, long long n) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  int s = 9798 * rgb[3 * i] + 19235 * rgb[3 * i + 1] + 3735 * rgb[3 * i + 2];
  bool set = ((s + 16384) >> 15) > 127;
  mask[i] = set ? 255 : 0;
  if (set) atomicAdd(area, 1ULL);
}
)";

class Bench {
 public:
  explicit Bench(Device& device) : device_(device), queue_(device.make_queue()) {
    // The device's own context, current for the set-up below.
    cuda::driver_api::Context context = nullptr;
    FUSELINE_CUDA_CHECK(cuda::driver().primary_retain(&context, device.id().index));
    FUSELINE_CUDA_CHECK(cuda::driver().context_push(context));
    for (int i = 0; i < frames; ++i) {
      frames_.push_back(device.allocate(static_cast<std::size_t>(3 * pixels)));
      masks_.push_back(device.allocate(static_cast<std::size_t>(pixels)));
      std::vector<std::uint8_t> noise(static_cast<std::size_t>(3 * pixels));
      unsigned seed = static_cast<unsigned>(i + 1);
      for (auto& byte : noise)
        byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
      queue_->upload(frames_.back().get(), noise.data(), noise.size());
      queue_->wait();
    }
    area_ = device.allocate(64);
    baselines_ =
        cuda::compile_cuda(baselines, "baselines", fmt::format("sm_{}", device.target().sm), {});
    FUSELINE_CUDA_CHECK(cuda::driver().module_load(&module_, baselines_.code.data()));
  }

  // Median microseconds a frame of a recording of one launch a frame, and its 95 % interval.
  Estimate time(const std::function<void(int)>& launch) {
    queue_->begin_record();
    for (int i = 0; i < frames; ++i) launch(i);
    auto recording = queue_->end_record();
    std::vector<double> samples;
    for (int sample = 0; sample < 60; ++sample) {
      constexpr int replays = 20;
      auto start = Clock::now();
      for (int i = 0; i < replays; ++i) queue_->replay(*recording);
      queue_->wait();
      double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      if (sample >= 10) samples.push_back(us / (replays * frames));
    }
    return median_interval(samples);
  }

  // A kernel of `baselines` over (from, to, n).
  std::function<void(int)> baseline(const char* name, std::int64_t threads, std::int64_t n,
                                    bool counts) {
    auto kernel = std::make_shared<cuda::CudaKernel>(nullptr);
    FUSELINE_CUDA_CHECK(cuda::driver().module_function(&kernel->function, module_, name));
    kernel->threads = 256;
    return [=, this](int i) {
      std::vector<void*> buffers = {frames_[static_cast<std::size_t>(i)].get(),
                                    masks_[static_cast<std::size_t>(i)].get()};
      if (counts) buffers.push_back(area_.get());
      std::uint64_t params[] = {static_cast<std::uint64_t>(n)};
      queue_->launch({kernel.get(), buffers, {}, params, (threads + 255) / 256});
    };
  }

  // The first kernel of a Program, with its own buffers a frame.
  std::function<void(int)> fused(const Graph& graph) {
    auto program =
        std::make_shared<Program::Impl>(graph, CompileOptions{.device = "cuda"}, device_);
    Tensor frame(frames_[0].get(), DType::u8, {height, width, 3}, device_.id());
    auto instance = program->instance({{"frame", frame}});
    require(instance->steps.size() == 1, "the pipeline is one kernel");
    auto arena = device_.allocate(static_cast<std::size_t>(instance->arena_bytes) + 256);
    auto ticket = device_.allocate(256);
    queue_->fill_zero(ticket.get(), 256);
    queue_->wait();
    return [=, this](int i) {
      const Step& step = instance->steps[0];
      std::vector<void*> buffers;
      for (const Place& place : step.places) {
        bool is_mask =
            place.kind == Place::Kind::output &&
            program->graph.type(program->graph.outputs()[place.index].value).dims.size() == 2;
        switch (place.kind) {
          case Place::Kind::input:
            buffers.push_back(frames_[static_cast<std::size_t>(i)].get());
            break;
          case Place::Kind::output:
            buffers.push_back(is_mask ? masks_[static_cast<std::size_t>(i)].get() : area_.get());
            break;
          case Place::Kind::ticket:
            buffers.push_back(ticket.get());
            break;
          default:
            buffers.push_back(static_cast<char*>(arena.get()) + place.offset);
        }
      }
      queue_->launch({step.kernel->compiled.get(), buffers, {}, step.params, step.blocks});
    };
  }

  std::function<void(int)> copy(std::size_t bytes) {
    return [=, this](int i) {
      auto* base = static_cast<char*>(frames_[static_cast<std::size_t>(i)].get());
      queue_->copy(base + bytes / 2, base, bytes / 2);
    };
  }

  static void FUSELINE_CUDA_CHECK(int result) { cuda::check(result, "benchmark set-up"); }

 private:
  Device& device_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::shared_ptr<void>> frames_, masks_;
  std::shared_ptr<void> area_;
  cuda::CompileResult baselines_;
  cuda::driver_api::Module module_ = nullptr;
};

Graph mask_graph(bool with_mask) {
  Graph g;
  Value frame = g.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), 3});
  Value mask = threshold(gray(frame), 127, 255);
  if (with_mask) g.output("mask", mask);
  g.output("area", count(mask));
  return g;
}

Graph hsv_graph() {
  Graph g;
  Value hsv = rgb_to_hsv(g.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), 3}));
  Value inside = in_range(hsv, {20, 40, 30}, {140, 250, 240});
  g.output("inside", inside);
  g.output("area", count(inside));
  return g;
}

int run() {
  Device& device = open_device("cuda");
  Bench bench(device);
  struct Row {
    const char* name;
    double bytes;
    std::function<void(int)> launch;
  };
  constexpr double mask_bytes = 4.0 * pixels, read_bytes = 3.0 * pixels;
  std::vector<Row> rows = {
      {"memcpy of 12.4 MB to 12.4 MB", read_bytes,
       bench.copy(static_cast<std::size_t>(read_bytes))},
      {"copy kernel, 8.3 + 8.3 MB", 2.0 * pixels,
       bench.baseline("copy_bytes", pixels / 16, pixels / 16, false)},
      {"stream kernel, 3 read : 1 written", mask_bytes,
       bench.baseline("stream_3_1", pixels / 16, pixels / 16, false)},
      {"read kernel", read_bytes, bench.baseline("read_only", pixels / 16, pixels / 16, false)},
      {"mask, one atomic a pixel (hand-written)", mask_bytes,
       bench.baseline("mask_atomic_per_pixel", pixels, pixels, true)},
      {"fuseline mask + count", mask_bytes, bench.fused(mask_graph(true))},
      {"fuseline count alone", read_bytes, bench.fused(mask_graph(false))},
      {"fuseline hue range + count", mask_bytes, bench.fused(hsv_graph())},
  };
  std::printf("%s, %d frames of %lld x %lld\n", device.target().name.c_str(), frames,
              static_cast<long long>(width), static_cast<long long>(height));
  for (const Row& row : rows) {
    auto interval = bench.time(row.launch);
    std::printf("%-42s %8.2f us [%.2f, %.2f]  %6.2f TB/s\n", row.name, interval.value, interval.low,
                interval.high, row.bytes / interval.value * 1e-6);
  }
  return 0;
}

}  // namespace
}  // namespace fuseline

int main() {
  try {
    return fuseline::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_bench: %s\n", error.what());
    return 3;
  }
}
