// Where each mask is written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fuseline/image.hpp"

namespace fuseline::cli {

struct MaskTask {
  std::filesystem::path picture;
  std::filesystem::path mask;  // empty: none is written
  std::string problem;         // not empty: there is nothing to read, and why
};

// The pictures that `inputs` name, without the masks (*.mask.png) that an earlier run left in
// their folders.
std::vector<ImageEntry> list_pictures(const std::vector<std::string>& inputs);

// `output` as the user gave it, empty for beside each picture. Throws Error, before anything is
// written, where two masks would have one name or a mask the name of a picture.
std::vector<MaskTask> plan_masks(const std::vector<std::string>& inputs,
                                 const std::vector<ImageEntry>& pictures,
                                 const std::string& output);

}  // namespace fuseline::cli
