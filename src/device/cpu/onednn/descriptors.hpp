// Memory descriptors of tensors as the graph lays them out.
#pragma once

#include <dnnl.hpp>

#include "program/device.hpp"

namespace fuseline::cpu {

dnnl::engine& engine();
dnnl::memory::data_type data_type(DType dtype);

// As many axes as the operand has, with its strides.
dnnl::memory::desc plain_descriptor(const CallOperand& operand);

// Whether there may be a name for this block.
bool has_block_tag(std::int64_t block);

// [N, C, places...], plain or as [N, blocks, places..., block] with `channels` of them in use.
// `tagged`: the block has a name; else it holds all channels, which only strides tell.
dnnl::memory::desc image_descriptor(const CallOperand& operand, std::int64_t block,
                                    std::int64_t channels, bool tagged);

// [M, C/groups, kernel...] (or transposed, [C, M/groups, kernel...]) as oneDNN orders the axes:
// groups where there are several, features, channels, kernel.
dnnl::memory::desc weights_descriptor(const CallOperand& weights, std::int64_t groups,
                                      bool transposed);

// The same sizes in whatever order the library likes best.
dnnl::memory::desc any_order(const dnnl::memory::desc& descriptor);

std::int64_t bytes_of(const dnnl::memory::desc& descriptor);

}  // namespace fuseline::cpu
