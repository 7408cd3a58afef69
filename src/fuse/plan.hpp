// KernelPlan: how a Region becomes a kernel. Everything that makes a different kernel stands here;
// sizes, strides and constants are parameters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fuse/region.hpp"
#include "graph/target.hpp"

namespace fuseline {

// Where a buffer's strides are known: the innermost `dense_tail` axes have no gaps between them,
// the strides of the others are parameters. A dense tensor has dense_tail == rank.
struct Placement {
  int dense_tail = 0;
  auto operator<=>(const Placement&) const = default;
};

// What a size and its buffers decide of the plan: the guards.
struct PlanGuards {
  std::vector<Placement> sources;  // one a source of the Region
  bool index32 = true;             // every offset and every count is below 2^31
  bool aligned = false;            // vector accesses start at multiples of 16 bytes
  auto operator<=>(const PlanGuards&) const = default;
};

// Strides, in elements, as sizes: products of extents where dense, else symbols that
// `stride_symbol` names and the Instance binds.
std::string stride_symbol(ValueId value, std::size_t axis);
Dims strides_of(ValueId value, const Dims& dims, Placement placement);

enum class Strategy : std::uint8_t {
  flat,    // pointwise work, and reductions of everything: rows of lanes, block partials
  row,     // one kept coordinate after the other, lanes along the reduced axes
  column,  // lanes along the kept axes, the reduced axes in a loop
};

// One loop of the plan: neighbouring axes of the space that every access steps through alike.
struct PlanAxis {
  Dim extent;
  bool reduced = false;
};

// An element address: constant + sum over the plan's axes of coefficient * coordinate, and of
// scalar * stride over terms that do not change along the lanes.
struct Access {
  std::vector<Dim> coefficients;  // one a plan axis
  Dim constant;
  std::vector<std::pair<ScalarId, Dim>> terms = {};
  int channel = -1;  // >= 0: the place in an inner axis of `channels` elements, all of which
  int channels = 1;  // may be read
};

struct KernelPlan {
  const Region* region = nullptr;
  Target target;
  PlanGuards guards;
  Strategy strategy = Strategy::flat;
  std::vector<PlanAxis> axes;  // kept ones first
  std::vector<int> axis_of;    // space axis -> plan axis; -1: its only coordinate is 0
  int lanes = 1;
  std::map<ScalarId, Access> reads;  // the reads whose address is affine
  std::vector<Access> points;        // by Region::points; the address of channel 0
  std::vector<Access> results;       // by Region::results, likewise

  int kept_axes() const;
  int vector_axis() const;  // the axis of the lanes; -1 when there is none
  // The axis whose range a CPU's blocks share: that of the lanes, or the one before it where the
  // lanes' axis is short and would not repay finding each row's place.
  int row_axis() const;
  // One line for people: "flat [8294400] x 32 lanes, u8x3 interleaved, ...".
  std::string describe() const;
};

KernelPlan make_plan(const Region& region, const PlanGuards& guards, const Target& target);

// Threads of a CUDA block, and how many groups of lanes each of them takes one after the other.
// Part of the launch, not of the kernel: one kernel serves all shapes.
struct LaunchShape {
  int threads = 1;
  int groups = 1;
  auto operator<=>(const LaunchShape&) const = default;
};

// Threads that the kernel is compiled for: no shape has more.
int most_threads(const KernelPlan& plan);
// The shapes worth measuring, first the one to take unmeasured. Only one where results depend on
// it: float sums and products are combined in the order of the threads.
std::vector<LaunchShape> launch_shapes(const KernelPlan& plan, const DimBindings& sizes);

// Launch geometry for concrete sizes: the block count, and values for the plan's own symbols
// ("$row_chunk" and the like), which are added to `sizes`.
std::int64_t launch_blocks(const KernelPlan& plan, LaunchShape shape, DimBindings& sizes);

}  // namespace fuseline
