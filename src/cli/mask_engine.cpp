// Program lookup and one run.
#include "cli/mask_engine.hpp"

namespace fuseline::cli {

TensorMap mask_inputs(const Tensor& pixels) { return {{"frame", pixels}}; }

TensorMap mask_outputs(const Tensor& mask, std::int64_t& area) {
  TensorMap outputs;
  if (mask) outputs.emplace_back("mask", mask);
  outputs.emplace_back("area", Tensor::of(&area, {}));
  return outputs;
}

Program MaskEngine::program(std::int64_t channels) {
  std::lock_guard lock(mutex_);
  auto found = programs_.find(channels);
  if (found != programs_.end()) return found->second;
  MaskSettings settings = settings_;
  settings.channels = static_cast<int>(channels);
  return programs_.emplace(channels, compile(mask_graph(settings), options_)).first->second;
}

void MaskEngine::prepare(const ImageInfo& picture) {
  // Shape and alignment decide which kernels are needed; there are no pixels yet, and none are
  // read.
  alignas(64) static const std::byte nowhere[64] = {};
  Tensor shape_only(static_cast<const void*>(nowhere), DType::u8,
                    {picture.height, picture.width, picture.channels});
  program(picture.channels).output_shapes(mask_inputs(shape_only));
}

Tensor MaskEngine::make_mask(std::int64_t height, std::int64_t width) const {
  return settings_.with_mask ? Tensor::allocate(DType::u8, {height, width}) : Tensor();
}

std::int64_t MaskEngine::run(const Image& picture, const Tensor& mask) {
  std::int64_t area = 0;
  program(picture.channels()).run(mask_inputs(picture.pixels), mask_outputs(mask, area));
  return area;
}

}  // namespace fuseline::cli
