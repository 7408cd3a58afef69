// A program with a slow decoder before its kernels: what `fuseline diagnose` has to explain.
//
// A line camera: every frame, some packed rows are decoded on the host and sent to the device,
// which computes mask and area of the whole frame. Stages are marked; the kernels are one of
// several kinds, or do nothing, or are not there.
#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "base/fail.hpp"
#include "cli/diagnose_null_device.hpp"
#include "cuda/benchmarks.hpp"
#include "fuseline/stage.h"
#include "graphs.hpp"
#include "program/program_impl.hpp"

namespace fuseline::bench {
namespace {

constexpr std::int64_t height = 2160, width = 3840, channels = 3, limit = 127;
constexpr std::int64_t row_bytes = width * channels;
constexpr std::int64_t packed_bytes = row_bytes * 3 / 2;  // 12 bits a sample

// The upper eight of every twelve bits, a row at a time.
void unpack(const std::uint8_t* from, std::uint8_t* to) {
  for (std::int64_t i = 0; i < row_bytes; i += 2, from += 3) {
    to[i] = from[0];
    to[i + 1] = static_cast<std::uint8_t>(from[1] << 4 | from[2] >> 4);
  }
}

class Camera {
 public:
  Camera(Device& device, const FrameOptions& options)
      : options_(options),
        device_(device),
        null_device_(device),
        queue_(device.make_queue()),
        strip_(device.allocate_host(static_cast<std::size_t>(height * row_bytes))),
        frame_(device.allocate(static_cast<std::size_t>(height * row_bytes))),
        mask_(device.allocate(static_cast<std::size_t>(height * width))),
        area_(device.allocate(sizeof(std::int64_t))),
        packed_(static_cast<std::size_t>(packed_bytes * height)),
        host_(static_cast<std::size_t>(height * row_bytes)) {
    std::minstd_rand engine(7);
    for (std::uint8_t& byte : packed_) byte = static_cast<std::uint8_t>(engine() >> 8);
    queue_->upload(frame_.get(), host_.data(), host_.size());
    queue_->wait();
    if (options.kernels == "none") return;
    is_null_ = options.kernels.starts_with("null-");
    // Shapes by rule, so that kernels without bodies are launched like real ones.
    CompileOptions compiling{.fusion = !options.kernels.ends_with("unfused"),
                             .deterministic = true};
    Device& on = is_null_ ? null_device_ : device_;
    lane_.emplace(compile_on(on, mask_graph(limit), compiling).make_lane());
    constexpr int warm_runs = 3;
    for (int i = 0; i < warm_runs; ++i) kernels();
  }

  void run() {
    for (int i = 0; i < options_.frames; ++i) {
      StageMark frame("frame");
      decode();
      send();
      if (StageMark mark("kernels"); lane_) kernels();
    }
    if (lane_ && !is_null_) check();
  }

 private:
  // More rows than a frame has are decoded again.
  void decode() {
    StageMark mark("decode");
    auto* strip = static_cast<std::uint8_t*>(strip_.get());
    for (std::int64_t i = 0; i < options_.rows; ++i)
      unpack(packed_.data() + (first_row_ + i) % height * packed_bytes,
             strip + i % height * row_bytes);
  }

  void send() {
    StageMark mark("h2d");
    std::int64_t rows = std::min<std::int64_t>({options_.rows, most_sent, height - first_row_});
    auto bytes = static_cast<std::size_t>(rows * row_bytes);
    std::size_t at = static_cast<std::size_t>(first_row_ * row_bytes);
    queue_->upload(static_cast<char*>(frame_.get()) + at, strip_.get(), bytes);
    queue_->wait();
    std::memcpy(host_.data() + at, strip_.get(), bytes);
    first_row_ = (first_row_ + rows) % height;
  }

  void kernels() {
    DeviceId id = device_.id();
    void* frame = frame_.get();
    lane_->run({{"frame", Tensor(frame, DType::u8, {height, width, channels}, id)}},
               {{"mask", Tensor(mask_.get(), DType::u8, {height, width}, id)},
                {"area", Tensor(area_.get(), DType::i64, {}, id)}});
  }

  void check() {
    std::int64_t area = 0, expected = 0;
    queue_->download(&area, area_.get(), sizeof area);
    queue_->wait();
    for (std::size_t i = 0; i < host_.size(); i += 3)
      expected +=
          (9798 * host_[i] + 19235 * host_[i + 1] + 3735 * host_[i + 2] + 16384) >> 15 > limit;
    if (area != expected)
      throw Mismatch(fmt::format("the last area is {}, {} expected", area, expected));
  }

  // Of a strip: copies must not hide behind the decoder, nor decide the frame.
  static constexpr std::int64_t most_sent = 16;

  FrameOptions options_;
  Device& device_;
  cli::NullKernelDevice null_device_;
  std::unique_ptr<Queue> queue_;
  std::shared_ptr<void> strip_, frame_, mask_, area_;
  std::vector<std::uint8_t> packed_, host_;
  std::optional<Lane> lane_;
  bool is_null_ = false;
  std::int64_t first_row_ = 0;
};

}  // namespace

void run_frames(Device& device, const FrameOptions& options) {
  static constexpr const char* kinds[] = {"fused", "unfused", "null-fused", "null-unfused", "none"};
  if (std::find(std::begin(kinds), std::end(kinds), options.kernels) == std::end(kinds))
    fail("frames {}: fused, unfused, null-fused, null-unfused and none are possible",
         options.kernels);
  Camera(device, options).run();
}

}  // namespace fuseline::bench
