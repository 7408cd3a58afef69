// `mask PICTURE...` taken apart: one picture on all threads, several on one thread each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/fail.hpp"
#include "cli/diagnose_mask.hpp"
#include "cli/diagnose_subject.hpp"
#include "frames/encode/write_jpeg.hpp"
#include "base/path_text.hpp"

namespace fuseline::cli {
namespace {

constexpr std::array divisors = {4, 2, 1};
constexpr std::int64_t least_side = 64;
constexpr int quality = 90;
// Masks of the pictures are kept for the encoder; and experiments on many take too long.
constexpr std::size_t most_pictures = 16;

// Means of squares of divisor x divisor pixels.
Tensor reduced(const Tensor& pixels, std::int64_t divisor) {
  std::int64_t channels = pixels.shape()[2];
  std::int64_t height = pixels.shape()[0] / divisor, width = pixels.shape()[1] / divisor;
  Tensor small = Tensor::allocate(DType::u8, {height, width, channels});
  auto* to = small.as<std::uint8_t>();
  const auto* from = pixels.as<const std::uint8_t>();
  std::int64_t row = pixels.strides()[0];
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) {
        std::int64_t sum = divisor * divisor / 2;
        for (std::int64_t dy = 0; dy < divisor; ++dy)
          for (std::int64_t dx = 0; dx < divisor; ++dx)
            sum += from[(y * divisor + dy) * row + (x * divisor + dx) * channels + c];
        *to++ = static_cast<std::uint8_t>(sum / (divisor * divisor));
      }
  return small;
}

class Pictures final : public Subject {
 public:
  explicit Pictures(MaskCommand command)
      : command_(std::move(command)),
        batch_(command_.batch()),
        options_(command_.graph.compile_options()) {
    command_.graph.apply_threads();
    for (const ImageEntry& entry : list_pictures(command_.files.inputs)) {
      if (!entry.problem.empty()) continue;
      ++named_;
      if (files_.size() < most_pictures) files_.push_back(entry.path);
    }
    if (files_.empty()) fail("no picture that can be read was named");
    for (const auto& file : files_) find_graph(probe_image(file, batch_.read));
    workers_ = files_.size() == 1 ? 1 : std::min(processors(), static_cast<int>(files_.size()));
    masks_.resize(files_.size());
    places_.resize(static_cast<std::size_t>(workers_));
  }

  std::string object() const override {
    if (files_.size() == 1) return path_text(files_[0].filename());
    std::string of = named_ > files_.size()
                         ? fmt::format("the first {} of {}", files_.size(), named_)
                         : fmt::format("all {}", files_.size());
    return fmt::format("{} pictures, {} at a time", of, workers_);
  }
  std::string frame() const override {
    return files_.size() == 1 ? "frame" : fmt::format("set of {} pictures", files_.size());
  }
  std::size_t items() const override { return files_.size(); }
  int workers() const override { return workers_; }
  const std::vector<Graph>& graphs() const override { return graphs_; }
  const CompileOptions& options() const override { return options_; }

  const FrameTensors& read(std::size_t item, int worker) override {
    Place& place = places_[static_cast<std::size_t>(worker)];
    place.picture = read_image(files_[item], batch_.read);
    Shape shape = {place.picture.height(), place.picture.width()};
    if (!command_.graph.area_only) {
      if (!masks_[item]) masks_[item] = Tensor::allocate(DType::u8, shape);
      if (place.nowhere.shape() != shape) place.nowhere = Tensor::allocate(DType::u8, shape);
    }
    place.tensors = {graph_of_.at(place.picture.channels()), mask_inputs(place.picture.pixels),
                     mask_outputs(masks_[item], place.area),
                     mask_outputs(place.nowhere, place.area)};
    return place.tensors;
  }

  void write(std::size_t item, int worker) override {
    if (masks_[item])
      write_mask(folder_ / fmt::format("{}.png", worker), masks_[item], batch_.one_bit);
  }

  Sweep measure_sizes(BenchRunner& runner, const BenchPlan& plan) override {
    std::vector<SizePoint> points(divisors.size());
    bool jpeg = true;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      Image picture = read_image(files_[i], batch_.read);
      if (std::min(picture.width(), picture.height()) < least_side)
        fail("the picture has {} x {} pixels; sides of {} are needed to make it smaller",
             picture.width(), picture.height(), least_side);
      jpeg = picture.format == ImageFormat::jpeg;
      for (std::size_t k = 0; k < divisors.size(); ++k)
        save(reduced(picture.pixels, divisors[k]), jpeg, k, i, points[k]);
    }
    std::vector<std::vector<std::string>> words;
    for (std::size_t k = 0; k < divisors.size(); ++k) words.push_back(words_at(k));
    Sweep sweep = measure_points(std::move(points), words, runner, plan);
    std::string format = jpeg ? fmt::format("baseline JPEG of quality {}", quality) : "PNG";
    sweep.how = files_.size() == 1
                    ? fmt::format("the picture re-encoded as {}", format)
                    : fmt::format("{} pictures, each re-encoded in its format", files_.size());
    sweep.unit = "megapixel";
    return sweep;
  }

  std::vector<std::string> on_threads(int threads) override {
    MaskCommand other = command_;
    other.graph.threads = std::to_string(threads);
    std::vector<std::string> words = other.on(files_[0], folder_ / "threads.png");
    if (files_.size() == 1) return words;
    words.erase(words.begin() + 1);
    for (const auto& file : files_) words.insert(words.begin() + 1, file.string());
    if (!command_.graph.area_only) words.back() = (folder_ / "threads").string();
    return words;
  }

 private:
  struct Place {
    Image picture;
    Tensor nowhere;
    std::int64_t area = 0;
    FrameTensors tensors;
  };

  void find_graph(const ImageInfo& picture) {
    if (graph_of_.contains(picture.channels)) return;
    MaskSettings settings = command_.graph.settings();
    settings.channels = static_cast<int>(picture.channels);
    graph_of_[picture.channels] = graphs_.size();
    graphs_.push_back(mask_graph(settings));
  }

  void save(const Tensor& pixels, bool jpeg, std::size_t size, std::size_t number,
            SizePoint& point) {
    std::filesystem::path at = folder_ / fmt::format("size-{}", size);
    std::filesystem::create_directories(at);
    if (jpeg)
      write_jpeg(at / fmt::format("{}.jpg", number), pixels, quality);
    else
      write_png(at / fmt::format("{}.png", number), pixels);
    std::int64_t width = pixels.shape()[1], height = pixels.shape()[0];
    point.amount += static_cast<double>(width * height) / 1e6;
    point.label = number == 0 ? fmt::format("{} x {}", width, height)
                              : fmt::format("{} pictures", number + 1);
  }

  std::vector<std::string> words_at(std::size_t size) const {
    std::filesystem::path at = folder_ / fmt::format("size-{}", size);
    if (files_.size() > 1) return command_.on(at, folder_ / fmt::format("masks-{}", size));
    return command_.on(std::filesystem::directory_iterator(at)->path(), folder_ / "size.png");
  }

  MaskCommand command_;
  BatchOptions batch_;
  CompileOptions options_;
  std::size_t named_ = 0;
  int workers_ = 1;
  std::vector<std::filesystem::path> files_;
  std::vector<Graph> graphs_;
  std::map<std::int64_t, std::size_t> graph_of_;  // by channels
  ScratchFolder folder_;
  std::vector<Tensor> masks_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Subject> mask_subject(const std::vector<std::string>& words) {
  return std::make_unique<Pictures>(parse_mask_command(words));
}

}  // namespace fuseline::cli
