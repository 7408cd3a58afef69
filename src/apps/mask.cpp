// The mask pipeline as a graph.
#include "fuseline/mask.hpp"

#include <array>

#include "base/fail.hpp"

namespace fuseline {
namespace {

constexpr std::array modes = {GrayMode::bt601_q15, GrayMode::bt601_q16, GrayMode::bt709};

void check(const MaskSettings& settings) {
  if (settings.threshold < 0 || settings.threshold > 255)
    fail("mask: threshold {} is outside 0 to 255", settings.threshold);
  if (settings.channels != 1 && settings.channels != 3 && settings.channels != 4)
    fail("mask: pictures of {} channels; 1 (gray), 3 (RGB) or 4 (RGBA) are possible",
         settings.channels);
}

}  // namespace

Graph mask_graph(const MaskSettings& settings) {
  check(settings);
  Graph graph;
  Value frame =
      graph.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), Dim(settings.channels)});
  Value level = settings.channels == 1 ? pick(frame, 2, 0) : gray(frame, settings.gray);
  Value limit = graph.constant(DType::u8, std::int64_t{settings.threshold});
  Value set = settings.invert ? level <= limit : level > limit;
  if (settings.with_mask) {
    Value white = graph.constant(DType::u8, std::int64_t{255});
    graph.output("mask", where(set, white, 0));
  }
  graph.output("area", count(set));
  return graph;
}

std::string_view name_of(GrayMode mode) {
  switch (mode) {
    case GrayMode::bt601_q15:
      return "bt601_q15";
    case GrayMode::bt601_q16:
      return "bt601_q16";
    case GrayMode::bt709:
      return "bt709";
  }
  fail_internal("a gray mode without a name");
}

GrayMode gray_mode_named(std::string_view name) {
  for (GrayMode mode : modes)
    if (name_of(mode) == name) return mode;
  fail("gray: \"{}\" is no mode; use bt601_q15, bt601_q16 or bt709", name);
}

}  // namespace fuseline
