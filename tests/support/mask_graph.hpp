// The mask pipeline that several rooms test: gray, threshold, count.
#pragma once

#include "fuseline/ops.hpp"

namespace fuseline {

inline Graph mask_graph(int limit = 127) {
  Graph g;
  Value frame = g.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), 3});
  Value mask = threshold(gray(frame), limit, 255);
  g.output("mask", mask);
  g.output("area", count(mask));
  return g;
}

}  // namespace fuseline
