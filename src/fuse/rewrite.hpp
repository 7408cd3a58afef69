// Exact rewriting of integer scalars while a Region is built.
#pragma once

#include "graph/scalar.hpp"

namespace fuseline {

// Rules, all exact by the ranges of the operands:
//   narrow(x) < u            ->  x < widen(u)             when narrow() loses nothing
//   (x >> c) < u             ->  x < u << c               and the like for <=, both sides
//   x + k < u                ->  x < u - k
//   f(select(c, l1, l2), l3) ->  select(c, f(l1, l3), f(l2, l3))   for literals l
//   select(c, true, false)   ->  c
// where u is uniform, so that the right side is computed once a launch. Together they turn
// ((sum + half) >> bits) as u8 > t into one integer comparison.
std::optional<ScalarId> rewrite_scalar(ScalarDag& dag, const ScalarNode& node);

}  // namespace fuseline
