// A primitive of oneDNN with its weights and its scratch memory.
#pragma once

#include "device/cpu/call_library.hpp"
#include "device/cpu/onednn/descriptors.hpp"
#include "device/cpu/onednn/weights.hpp"

namespace fuseline::cpu {

// What a convolution and a matrix product have in common.
struct Primitive {
  dnnl::primitive primitive;
  std::string implementation;
  dnnl::memory::desc source, weights, bias, result, scratch;
  std::size_t feature_axis = 0;  // of the weights: the last of those that tell features apart
};

// `given`: how the request's weights lie. Constants are rearranged now, others at every run.
std::shared_ptr<const CpuCall> make_call(Primitive primitive, const CallRequest& request,
                                         const dnnl::memory::desc& given);

// The epilogue, and scratch memory from the caller.
dnnl::primitive_attr attributes_of(const Epilogue& epilogue);

// oneDNN plans and runs with as many threads as OpenMP would start.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int threads);
  ~OpenMpThreads();
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  int before_;
};

std::shared_ptr<const CpuCall> prepare_convolution(const CallRequest& request);
std::shared_ptr<const CpuCall> prepare_matmul(const CallRequest& request);
// A sum over nothing: zeros, and what the epilogue makes of them.
std::shared_ptr<const CpuCall> prepare_empty_sum(const CallRequest& request);

}  // namespace fuseline::cpu
