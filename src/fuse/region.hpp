// Region: a piece of a graph that becomes one kernel. A scalar DAG over ONE iteration space, whose
// outputs are pointwise on that space or reductions over some of its axes.
#pragma once

#include <string>
#include <vector>

#include "fuseline/graph.hpp"
#include "graph/scalar.hpp"

namespace fuseline {

// A buffer that the region reads.
struct RegionSource {
  ValueId value = 0;
  DType dtype = DType::u8;
  Dims dims;
};

// A scalar constant of the graph: a parameter of the kernel, so that another value needs no
// other kernel.
struct RegionParam {
  DType dtype = DType::f32;
  Number value{.bits = 0};
};

struct RegionReduction {
  Intrinsic combine = Intrinsic::add;
  bool with_index = false;   // keeps the index of the winner, not its value
  DType dtype = DType::f32;  // in which it accumulates
  ScalarId value = 0;
  ScalarId index = 0;  // with_index: i64 position along the reduced axis
};

// A tensor that the region writes, dense. `scalars` has one entry for each index of the unrolled
// inner axis (one entry without unrolling). Pointwise outputs are functions of the space's
// coordinates; results are functions of the kept coordinates and of reductions
// (ScalarKind::reduced).
struct RegionOutput {
  ValueId value = 0;
  DType dtype = DType::u8;
  std::vector<ScalarId> scalars;
  // A part of a dense tensor: the sizes of the whole, and where on each axis it starts. Empty: all.
  Dims whole = {};
  Dims starts = {};
};

struct Region {
  explicit Region(ScalarDag::Rewrite rewrite) : dag(rewrite) {}

  Dims space;                 // without the unrolled axis
  std::vector<bool> reduced;  // per axis of the space; all false without reductions
  int unroll = 1;             // extent of the inner axis that is written out
  ScalarDag dag;
  std::vector<RegionSource> sources;
  std::vector<RegionParam> params;
  std::vector<RegionReduction> reductions;
  std::vector<RegionOutput> points;
  std::vector<RegionOutput> results;
  std::vector<ValueId> operations;   // the graph values that are computed inside
  std::vector<std::string> reasons;  // why its borders are where they are
};

}  // namespace fuseline
