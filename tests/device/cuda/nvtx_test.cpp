// What a tool that reads NVTX sees of a Lane: launches, the recording, replays.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device/cuda/walk.hpp"
#include "fuseline/stage.h"
#include "nvtx/reader.hpp"

namespace fuseline::test {
namespace {

// Names of ranges in the order of their begins.
std::string ranges_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  fuseline_stage_header header;
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  std::string names;
  fuseline_stage_mark mark;
  for (std::uint64_t i = 0; i < header.count; ++i) {
    in.read(reinterpret_cast<char*>(&mark), sizeof mark);
    if (in && mark.kind == FUSELINE_RANGE_BEGIN) names += std::string(mark.name) + " ";
  }
  return names;
}

using NvtxDeathTest = CudaTest;

// In a process of its own: whether there is a tool is asked once.
TEST_F(NvtxDeathTest, AToolSeesLaunchesTheRecordingAndReplays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::string marks = testing::TempDir() + "fuseline-nvtx-" + std::to_string(::getpid());
        ::setenv("FUSELINE_STAGES", marks.c_str(), 1);
        ::setenv("NVTX_INJECTION64_PATH", nvtx::reader_library().c_str(), 1);
        Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
        MaskRun run(9, 33, 1);
        for (int again = 0; again < 3; ++again) {
          run.change();
          run.run(lane);
        }
        std::fprintf(stderr, "%s", ranges_in(marks).c_str());
        std::filesystem::remove(marks);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "^Fuseline:fl_[a-z0-9_]+ Fuseline:record Fuseline:fl_[a-z0-9_]+ Fuseline:replay Fuseline:replay $");
}

}  // namespace
}  // namespace fuseline::test
