// The benchmarks on a CUDA device, and the graphs that they run.
#pragma once

#include "bench_case.hpp"
#include "cuda/harness.hpp"
#include "fuseline/graph.hpp"

namespace fuseline::bench {

// 3840x2160 RGB to mask and area, 16 frames in one recording, beside copies and hand-written ones.
void run_mask(Session& session, const MeasureOptions& options);
// (x - a) / b * c + d, limited, to half.
void run_chain(Session& session, const MeasureOptions& options);
// Recordings of n tiny kernels beside CUDA's own graphs of n empty ones.
void run_launch(Session& session, const MeasureOptions& options);

// A program of many frames with a slow decoder, whose stages are marked.
struct FrameOptions {
  std::string kernels;  // fused, unfused; null-fused, null-unfused: without bodies; none
  int rows = 16;        // that are decoded a frame
  int frames = 200;
};
void run_frames(Device& device, const FrameOptions& options);

// NPP's gray, compare and count over the same frames as a row; unavailable where NPP is not
// installed.
struct NppFrames {
  std::vector<void*> frames, masks;
  int height = 0, width = 0, limit = 0;
};
Row npp_row(Session& session, const NppFrames& frames, double bytes);

// The chain's numbers; chain_cuda.py has the same.
inline constexpr double chain_a = 0.25, chain_b = 1.5, chain_c = 0.75, chain_d = 0.125,
                        chain_low = -1, chain_high = 1;
// x f32 [N] -> y f16 [N] = clip((x - a) / b * c + d, low, high)
Graph half_chain_graph();
// The chain through the public interface, driven over pipes: FILE (f32) ELEMENTS.
std::unique_ptr<BenchCase> make_half_chain_case(Device& device, const Arguments& arguments);

}  // namespace fuseline::bench
