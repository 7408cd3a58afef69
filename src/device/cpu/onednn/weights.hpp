// Weights in the order that a primitive wants, made once for all calls that want them so.
#pragma once

#include <memory>

#include "device/cpu/onednn/descriptors.hpp"

namespace fuseline::cpu {

// Thread-safe. The memory lives as long as somebody holds it; `data` must live as long, too.
std::shared_ptr<const dnnl::memory> prepared_weights(const void* data,
                                                     const dnnl::memory::desc& given,
                                                     const dnnl::memory::desc& wanted);

void reorder(const dnnl::memory& from, dnnl::memory& to);

}  // namespace fuseline::cpu
