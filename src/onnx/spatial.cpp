// Geometry of convolutions and pooling.
#include "onnx/spatial.hpp"

#include "base/fail.hpp"

namespace fuseline::onnx {
namespace {

std::vector<std::int64_t> list_or(const Context& c, const char* name, std::size_t count,
                                  std::int64_t otherwise) {
  std::vector<std::int64_t> list = c.integer_list(name);
  if (list.empty()) list.assign(count, otherwise);
  if (list.size() != count)
    fail("attribute {}: {} numbers for {} spatial axes", name, list.size(), count);
  return list;
}

void check_positive(const char* name, const std::vector<std::int64_t>& list) {
  for (std::int64_t value : list)
    if (value < 1 || value > (1 << 30)) fail("attribute {}: {}", name, value);
}

Spatial start(const Context& c, const Dims& dims, std::vector<std::int64_t> kernel) {
  if (dims.size() < 3) fail("an operand [N, C, ...] is needed, not {}", to_string(dims));
  std::size_t axes = dims.size() - 2;
  Spatial s;
  std::vector<std::int64_t> given = c.integer_list("kernel_shape");
  if (kernel.empty()) kernel = given;
  if (kernel.size() != axes || (!given.empty() && given != kernel))
    fail("attribute kernel_shape does not fit {} spatial axes and the weights", axes);
  s.kernel = std::move(kernel);
  s.strides = list_or(c, "strides", axes, 1);
  s.dilations = list_or(c, "dilations", axes, 1);
  check_positive("kernel_shape", s.kernel);
  check_positive("strides", s.strides);
  check_positive("dilations", s.dilations);
  s.from.assign(dims.begin() + 2, dims.end());
  std::vector<std::int64_t> pads = list_or(c, "pads", 2 * axes, 0);
  s.before.assign(pads.begin(), pads.begin() + static_cast<long>(axes));
  s.after.assign(pads.begin() + static_cast<long>(axes), pads.end());
  return s;
}

std::string auto_pad(const Context& c) {
  return c.choice("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
}

Dim at_least_zero(const Dim& dim) {
  return dim.is_constant() ? Dim(std::max<std::int64_t>(dim.constant(), 0)) : max(dim, Dim(0));
}

// Half of the padding on each side, the odd one where `upper` says.
void share(const Dim& total, bool upper, Dim& before, Dim& after) {
  Dim half = floor_div(total, Dim(2));
  before = upper ? half : total - half;
  after = total - before;
}

}  // namespace

std::vector<std::int64_t> kernel_of(const Dims& weights) {
  std::vector<std::int64_t> kernel;
  for (std::size_t k = 2; k < weights.size(); ++k) {
    if (!weights[k].is_constant()) fail("weights of unknown size {}", to_string(weights));
    kernel.push_back(weights[k].constant());
  }
  return kernel;
}

Spatial spatial_of(const Context& c, const Dims& dims, std::vector<std::int64_t> kernel) {
  Spatial s = start(c, dims, std::move(kernel));
  std::string mode = auto_pad(c);
  bool up = c.integer("ceil_mode", 0) != 0;
  for (std::size_t k = 0; k < s.axes(); ++k) {
    Dim reach = (s.kernel[k] - 1) * s.dilations[k] + 1, stride = s.strides[k];
    if (mode == "VALID") s.before[k] = s.after[k] = 0;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      s.sizes.push_back(ceil_div(s.from[k], stride));
      Dim total = at_least_zero((s.sizes[k] - 1) * stride + reach - s.from[k]);
      share(total, mode == "SAME_UPPER", s.before[k], s.after[k]);
      continue;
    }
    Dim room = s.from[k] + s.before[k] + s.after[k] - reach;
    Dim size = (up ? ceil_div(room, stride) : floor_div(room, stride)) + 1;
    // A window that would start in the padding behind is none.
    Dim last = (size - 1) * stride, end = s.from[k] + s.before[k];
    if (up && size.is_constant() && last.constant() >= end.constant()) size = size - 1;
    if (up && !size.is_constant()) size = size - (Dim(1) - less(last, end));
    s.sizes.push_back(size);
  }
  return s;
}

Spatial transposed_spatial(const Context& c, const Dims& dims, std::vector<std::int64_t> kernel) {
  Spatial s = start(c, dims, std::move(kernel));
  std::string mode = auto_pad(c);
  std::vector<std::int64_t> extra = list_or(c, "output_padding", s.axes(), 0);
  std::vector<std::int64_t> wanted = c.integer_list("output_shape");
  if (wanted.size() == s.axes() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != s.axes())
    fail("attribute output_shape: {} numbers for {} spatial axes", wanted.size(), s.axes());
  for (std::size_t k = 0; k < s.axes(); ++k) {
    Dim full = (s.from[k] - 1) * s.strides[k] + extra[k] + (s.kernel[k] - 1) * s.dilations[k] + 1;
    bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (mode == "VALID") s.before[k] = s.after[k] = 0;
    if (wanted.empty() && !same) {
      s.sizes.push_back(full - s.before[k] - s.after[k]);
      continue;
    }
    s.sizes.push_back(wanted.empty() ? s.from[k] * s.strides[k] : Dim(wanted[k]));
    share(full - s.sizes[k], mode == "SAME_UPPER", s.before[k], s.after[k]);
  }
  return s;
}

}  // namespace fuseline::onnx
