// A stage of a command: a mark for `fuseline bench`, and a range for tools that read NVTX.
#pragma once

#include "fuseline/stage.h"
#include "nvtx/client.hpp"

namespace fuseline::cli {

// Lasts as long as the object; the name must outlive it.
class Stage {
 public:
  explicit Stage(const char* name) : mark_(name), range_(name) {}

 private:
  StageMark mark_;
  nvtx::Range range_;
};

}  // namespace fuseline::cli
