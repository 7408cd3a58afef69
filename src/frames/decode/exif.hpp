// The one EXIF entry that changes pixels: the orientation.
#pragma once

#include <cstdint>
#include <span>

namespace fuseline {

// `tiff` begins with the byte order mark ("II" or "MM"). 1..8; 1 where it is absent or invalid.
int exif_orientation(std::span<const std::uint8_t> tiff);

}  // namespace fuseline
