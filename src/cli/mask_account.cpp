// Alternate blocks of the unfused and the fused program between one decode and one encode.
#include "cli/mask_account.hpp"

#include <fmt/format.h>

#include <random>

#include "base/path_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/kernel_clock.hpp"
#include "cli/progress.hpp"

namespace fuseline::cli {
namespace {

using Clock = Observer::Clock;

struct RunTimes {
  double kernels = 0;
  double launch = 0;  // the rest of the run
};

// One side: a program with a Lane of its own.
class Side {
 public:
  Side(const MaskSettings& settings, CompileOptions options, bool fusion)
      : program_((options.fusion = fusion, compile(mask_graph(settings), options))),
        lane_(program_.make_lane()) {
    lane_.set_observer(&clock_);
  }

  RunTimes run(const Image& picture, const Tensor& mask) {
    std::int64_t area = 0;
    TensorMap inputs = mask_inputs(picture.pixels), outputs = mask_outputs(mask, area);
    clock_.reset();
    double whole = timed([&] { lane_.run(inputs, outputs); });
    return {clock_.ms(), whole - clock_.ms()};
  }
  // The median of the runs of ten milliseconds, at least three, behind one that meets what the
  // other side left in the caches.
  RunTimes block(const Image& picture, const Tensor& mask) {
    constexpr double block_ms = 10;
    constexpr std::size_t least = 3;
    run(picture, mask);
    std::vector<double> kernels, launches;
    for (double spent = 0; spent < block_ms || kernels.size() < least;) {
      RunTimes times = run(picture, mask);
      kernels.push_back(times.kernels);
      launches.push_back(times.launch);
      spent += times.kernels + times.launch;
    }
    return {median(kernels), median(launches)};
  }
  int kernels() const { return clock_.count(); }
  std::string device() const { return std::string(program_.device()); }

 private:
  Program program_;
  KernelClock clock_;
  Lane lane_;
};

std::string kernels_text(int count) {
  return fmt::format("{} kernel{}", count, count == 1 ? "" : "s");
}

class Measurement {
 public:
  Measurement(const MaskSettings& settings, const CompileOptions& compile_options,
              const MaskTask& task, const BatchOptions& options)
      : before_(settings, compile_options, false),
        after_(settings, compile_options, true),
        task_(task),
        options_(options) {}

  Account take() {
    constexpr std::size_t most = 31, usual = 9, least = 5;
    constexpr double short_seconds = 3, long_seconds = 20;
    warm_up();
    Progress progress("blocks", most);
    auto start = Clock::now();
    for (std::size_t n = 0; n < most; ++n) {
      double seconds = milliseconds(Clock::now() - start) / 1000;
      if ((n >= usual && seconds > short_seconds) || (n >= least && seconds > long_seconds)) break;
      stop_if_interrupted();
      block();
      progress.advance();
    }
    return account();
  }

 private:
  void warm_up() {
    picture_ = read_image(task_.picture, options_.read);
    if (!task_.mask.empty())
      mask_ = Tensor::allocate(DType::u8, {picture_.height(), picture_.width()});
    for (Side* side : {&before_, &after_})
      for (int i = 0; i < 2; ++i) side->run(picture_, mask_);
  }

  void block() {
    double decode = timed([&] { picture_ = read_image(task_.picture, options_.read); });
    RunTimes before, after;
    bool before_first = coin_() % 2 == 0;
    for (bool side : {before_first, !before_first})
      (side ? before : after) = (side ? before_ : after_).block(picture_, mask_);
    add(decode_, decode, decode);
    add(launch_, before.launch, after.launch);
    add(kernels_, before.kernels, after.kernels);
    if (!mask_) return;
    double encode = timed([&] { write_mask(task_.mask, mask_, options_.one_bit); });
    add(encode_, encode, encode);
  }

  static void add(AccountStage& stage, double before, double after) {
    stage.before.push_back(before);
    stage.after.push_back(after);
  }

  Account account() {
    Account account;
    account.title =
        fmt::format("Account of {}, {} x {}, {}, {} blocks", path_text(task_.picture.filename()),
                    picture_.width(), picture_.height(), after_.device(), decode_.before.size());
    account.before = fmt::format("fusion off, {}", kernels_text(before_.kernels()));
    account.after = fmt::format("fusion on, {}", kernels_text(after_.kernels()));
    account.kernels = kernels_.name;
    account.stages = {decode_, launch_, kernels_};
    if (mask_) account.stages.push_back(encode_);
    account.notes = {
        "The stages follow each other. Decoding and encoding are the same work on both",
        "sides and were measured once a block."};
    return account;
  }

  Side before_, after_;
  const MaskTask& task_;
  const BatchOptions& options_;
  Image picture_;
  Tensor mask_;
  std::minstd_rand coin_{1};
  AccountStage decode_{"decode", {}, {}}, launch_{"launch", {}, {}}, kernels_{"kernels", {}, {}},
      encode_{"encode", {}, {}};
};

}  // namespace

Account measure_mask(const MaskSettings& settings, const CompileOptions& compile_options,
                     const MaskTask& task, const BatchOptions& options) {
  MaskSettings exact = settings;
  exact.channels = static_cast<int>(probe_image(task.picture, options.read).channels);
  return Measurement(exact, compile_options, task, options).take();
}

}  // namespace fuseline::cli
