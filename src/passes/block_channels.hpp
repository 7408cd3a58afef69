// Convolutions and what stands between them in the order of channels that their library likes.
#pragma once

#include "fuseline/graph.hpp"
#include "graph/target.hpp"

namespace fuseline {

// Images [N, C, places...] around convolutions become [N, blocks, places..., block] with as many
// channels side by side as Target::channel_block says (all of them: channels last, one block).
// Elementwise operations, concatenation, pooling and padding follow; whatever else reads such a
// value reads it through a transposition, which its Region absorbs. A last block that is not full
// has lanes without a channel: 0 where a convolution reads them.
Graph block_channels(const Graph& graph, const Target& target);

}  // namespace fuseline
