// Preparing a picture by a graph.
#include "cli/picture_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>

#include "base/fail.hpp"
#include "cli/parse.hpp"
#include "frames/decode/sniff.hpp"
#include "fuseline/image.hpp"
#include "fuseline/ops.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {
namespace {

// Where the axes of an input are.
struct Layout {
  std::string name;  // "NCHW", "HWC", ...
  int rows = 0, columns = 0, channel = -1, batch = -1;
};

Layout layout_named(const std::string& letters) {
  auto at = [&](char c) {
    auto found = letters.find(c);
    return found == letters.npos ? -1 : static_cast<int>(found);
  };
  return {letters, at('H'), at('W'), at('C'), at('N')};
}

bool may_be_channels(const Dim& dim) {
  return dim.is_constant() && (dim.constant() == 1 || dim.constant() == 3);
}

Layout layout_of(const OnnxValue& input, const std::string& wanted) {
  const Dims& dims = input.dims;
  if (dims.size() == 2) return layout_named("HW");
  if (dims.size() != 3 && dims.size() != 4)
    fail("input {}: {}{} is no picture; give an array", input.name, input.type, to_string(dims));
  std::string batch = dims.size() == 4 ? "N" : "";
  std::string choice = parse_choice("--layout", wanted, {"auto", "nchw", "nhwc"});
  if (choice != "auto") return layout_named(batch + (choice == "nchw" ? "CHW" : "HWC"));
  bool first = may_be_channels(dims[dims.size() - 3]), last = may_be_channels(dims.back());
  if (first == last)
    fail("input {}: {} does not tell which axis is the channels; add --layout nchw or nhwc",
         input.name, to_string(dims));
  return layout_named(batch + (first ? "CHW" : "HWC"));
}

double number(const char* option, std::string_view text) {
  auto one = [&](std::string_view part) {
    double value = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value))
      fail("{}: \"{}\" is not a number", option, part);
    return value;
  };
  std::size_t slash = text.find('/');
  if (slash == text.npos) return one(text);
  double below = one(text.substr(slash + 1));
  if (below == 0) fail("{}: \"{}\" divides by zero", option, text);
  return one(text.substr(0, slash)) / below;
}

// One number, or one for each channel.
std::vector<float> numbers(const char* option, const std::string& text, std::int64_t channels) {
  std::vector<float> values;
  for (std::size_t start = 0; start <= text.size();) {
    std::size_t end = std::min(text.find(',', start), text.size());
    values.push_back(
        static_cast<float>(number(option, std::string_view(text).substr(start, end - start))));
    start = end + 1;
  }
  if (values.size() == 1) values.resize(static_cast<std::size_t>(channels), values[0]);
  if (static_cast<std::int64_t>(values.size()) != channels)
    fail("{}: {} numbers for {} channels", option, values.size(), channels);
  return values;
}

Value channel_constant(Graph& graph, const std::vector<float>& values) {
  Tensor tensor = Tensor::allocate(DType::f32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<float>());
  return graph.constant(tensor);
}

class Preparation {
 public:
  Preparation(const OnnxValue& input, const Image& image, const PictureOptions& options)
      : input_(input), image_(image), options_(options), layout_(layout_of(input, options.layout)) {
    check_type();
    channels_ = layout_.channel < 0 ? 1 : size_of_channels();
    height_ = size_of_axis(layout_.rows, image.height());
    width_ = size_of_axis(layout_.columns, image.width());
  }

  PreparedPicture run() {
    Value x =
        graph_.input("picture", DType::u8, {image_.height(), image_.width(), image_.channels()});
    x = colors(x);
    x = fitted(x);
    x = ranged(x);
    graph_.output("input", laid_out(x));
    CompileOptions options;
    options.device = "cpu";
    PreparedPicture result;
    result.tensor = compile(graph_, options).run({{"picture", image_.pixels}})[0];
    result.how = fmt::format("{}x{}{} -> {}{}", image_.width(), image_.height(), how_,
                             name_of(input_.dtype), to_string(result.tensor.shape()));
    return result;
  }

 private:
  bool is_byte() const { return input_.dtype == DType::u8; }

  void check_type() const {
    bool known = is_byte() || input_.dtype == DType::f32 || input_.dtype == DType::f16 ||
                 input_.dtype == DType::bf16 || input_.dtype == DType::f64;
    if (!known)
      fail("input {}: {} cannot be made of a picture; give an array", input_.name, input_.type);
    if (is_byte() && !(options_.scale.empty() && options_.mean.empty() && options_.std.empty()))
      fail("input {}: its bytes are the pixels; --scale, --mean and --std are for float inputs",
           input_.name);
    const Dims& dims = input_.dims;
    if (layout_.batch >= 0 && dims[0].is_constant() && dims[0].constant() != 1)
      fail("input {}: a batch of {} is needed; one picture is a batch of 1", input_.name,
           dims[0].constant());
  }

  std::int64_t size_of_channels() const {
    const Dim& dim = input_.dims[static_cast<std::size_t>(layout_.channel)];
    if (!dim.is_constant()) return 3;
    if (dim.constant() != 1 && dim.constant() != 3)
      fail("input {}: {} channels ({}, {}); pictures have 3, or 1 in gray", input_.name,
           dim.constant(), layout_.name, to_string(input_.dims));
    return dim.constant();
  }

  std::int64_t size_of_axis(int axis, std::int64_t own) const {
    const Dim& dim = input_.dims[static_cast<std::size_t>(axis)];
    if (!dim.is_constant()) return own;
    if (dim.constant() < 1) fail("input {}: its size is {}", input_.name, to_string(input_.dims));
    return dim.constant();
  }

  // [H,W,channels] of the order that is wanted.
  Value colors(Value x) {
    if (channels_ == 1) {
      if (options_.bgr) fail("--bgr: input {} has one channel", input_.name);
      how_ += ", gray";
      if (image_.channels() == 1) return x;
      Value level = gray(x);
      return reshape(level, {image_.height(), image_.width(), 1});
    }
    how_ += options_.bgr ? ", BGR" : ", RGB";
    if (image_.channels() == 1) return broadcast_to(x, {image_.height(), image_.width(), 3});
    if (image_.channels() == 4) how_ += " without alpha";
    std::vector<Value> planes;
    for (std::int64_t c : options_.bgr ? std::array{2, 1, 0} : std::array{0, 1, 2})
      planes.push_back(slice(x, {0, 0, c}, {image_.height(), image_.width(), 1}));
    return concat(planes, 2);
  }

  Value fitted(Value x) {
    std::string fit = parse_choice("--fit", options_.fit, {"stretch", "letterbox"});
    if (image_.height() == height_ && image_.width() == width_) return x;
    if (fit == "stretch") {
      how_ += fmt::format(", stretched to {}x{}", width_, height_);
      return resize(x, height_, width_);
    }
    double ratio = std::min(static_cast<double>(height_) / static_cast<double>(image_.height()),
                            static_cast<double>(width_) / static_cast<double>(image_.width()));
    auto scaled = [&](std::int64_t from, std::int64_t most) {
      auto size = static_cast<std::int64_t>(std::lround(static_cast<double>(from) * ratio));
      return std::clamp<std::int64_t>(size, 1, most);
    };
    std::int64_t rows = scaled(image_.height(), height_), columns = scaled(image_.width(), width_);
    how_ += fmt::format(", {}x{} inside {}x{} on gray 114", columns, rows, width_, height_);
    std::int64_t top = (height_ - rows) / 2, left = (width_ - columns) / 2;
    return pad(resize(x, rows, columns), {top, left, 0},
               {height_ - rows - top, width_ - columns - left, 0}, "constant", 114);
  }

  // (pixel * scale - mean) / std
  Value ranged(Value x) {
    if (is_byte()) return x;
    DType work = input_.dtype == DType::f64 ? DType::f64 : DType::f32;
    std::string scale = options_.scale.empty() ? "1/255" : options_.scale;
    x = cast(x, DType::f32) * number("--scale", scale);
    how_ += fmt::format(", pixel * {}", scale);
    if (!options_.mean.empty()) {
      x = x - channel_constant(graph_, numbers("--mean", options_.mean, channels_));
      how_ += " - mean " + options_.mean;
    }
    if (!options_.std.empty()) {
      std::vector<float> deviation = numbers("--std", options_.std, channels_);
      if (std::count(deviation.begin(), deviation.end(), 0.f)) fail("--std: 0 divides by zero");
      x = x / channel_constant(graph_, deviation);
      how_ += ", over std " + options_.std;
    }
    return input_.dtype == DType::f32 ? x : cast(cast(x, work), input_.dtype);
  }

  Value laid_out(Value x) {
    how_ += ", " + layout_.name;
    bool channels_first = layout_.channel >= 0 && layout_.channel < layout_.rows;
    if (channels_first) x = transpose(x, {2, 0, 1});
    Dims dims;
    for (char c : layout_.name)
      dims.push_back(c == 'N'   ? Dim(1)
                     : c == 'C' ? Dim(channels_)
                                : Dim(c == 'H' ? height_ : width_));
    return reshape(x, dims);
  }

  const OnnxValue& input_;
  const Image& image_;
  const PictureOptions& options_;
  Layout layout_;
  Graph graph_;
  std::int64_t channels_ = 3, height_ = 0, width_ = 0;
  std::string how_;
};

}  // namespace

void PictureOptions::add_to(CLI::App& command) {
  auto text = [&](const char* name, std::string& value, const char* type, const char* help) {
    command.add_option(name, value, help)->type_name(type);
  };
  text("--layout", layout, "ORDER", "Of a picture's input: auto (where 3 is), nchw or nhwc");
  text("--fit", fit, "HOW", "To a fixed size: stretch (the default) or letterbox");
  text("--scale", scale, "X", "Float inputs: pixels times X (1/255), then");
  text("--mean", mean, "X[,X,X]", "minus this, one number or one a channel (0), then");
  text("--std", std, "X[,X,X]", "divided by this (1)");
  command.add_flag("--bgr", bgr, "Blue first, as models made for OpenCV want it");
}

bool is_picture(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<std::uint8_t, sniff_bytes> start{};
  in.read(reinterpret_cast<char*>(start.data()), start.size());
  return !sniff(std::span(start).first(static_cast<std::size_t>(in.gcount()))).empty();
}

PreparedPicture prepare_picture(const OnnxValue& input, const std::filesystem::path& path,
                                const PictureOptions& options) {
  Image image = read_image(path);
  PreparedPicture prepared = Preparation(input, image, options).run();
  prepared.how = path.filename().string() + " " + prepared.how;
  return prepared;
}

}  // namespace fuseline::cli
