// Runs the kernels of one operation on the CPU device and, planned for CUDA, on the host simulator,
// and compares both with the reference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#include "emit/cuda_c/host/host.hpp"
#include "emit/cuda_c/print.hpp"
#include "fuseline/ops.hpp"
#include "graph/evaluate.hpp"
#include "graph/scalar.hpp"
#include "kernels/schedule.hpp"
#include "program/device_registry.hpp"

namespace fuseline::test {

inline const int own_cache =
    setenv("FUSELINE_CACHE_DIR", FUSELINE_BINARY_DIR "/tests/kernel-cache", 0);

inline Target cuda_target() {
  Target target;
  target.kind = DeviceKind::cuda;
  target.name = "cuda";
  target.vector_bytes = 16;
  target.block_threads = 256;
  target.warp = 32;
  target.processors = 4;
  return target;
}

// One operation on inputs "in0", "in1", ...; the output is "out".
struct KernelCase {
  Graph graph;
  std::vector<NamedTensor> inputs;

  Value input(const Tensor& tensor) {
    Dims dims(tensor.shape().begin(), tensor.shape().end());
    std::string name = "in" + std::to_string(inputs.size());
    inputs.emplace_back(name, tensor);
    return graph.input(name, tensor.dtype(), dims);
  }
};

// Numbers with many equals among them; floats with NaN and infinity.
inline Tensor random_tensor(DType dtype, const Shape& shape, std::uint64_t seed, int range = 20) {
  std::mt19937_64 random(seed);
  Tensor tensor = Tensor::allocate(dtype, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    auto draw = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range));
    Number n{.i = draw};
    if (is_signed_integer(dtype)) n.i -= range / 2;
    if (is_bool(dtype)) n.u = static_cast<std::uint64_t>(draw & 1);
    if (is_float(dtype)) {
      n.d = static_cast<double>(draw - range / 2) / 4;
      if (random() % 50 == 0) n.d = random() % 2 ? HUGE_VAL : std::nan("");
    }
    store_number(tensor.as<char>() + i * static_cast<std::int64_t>(size_of(dtype)), dtype, n);
  }
  return tensor;
}

// The same elements with a gap behind each.
inline Tensor spread_out(const Tensor& dense) {
  auto width = static_cast<std::int64_t>(size_of(dense.dtype()));
  Tensor wide = Tensor::allocate(dense.dtype(), {2 * dense.size()});
  std::memset(wide.data(), 0x77, static_cast<std::size_t>(wide.bytes()));
  for (std::int64_t i = 0; i < dense.size(); ++i)
    std::memcpy(wide.as<char>() + 2 * i * width, dense.as<const char>() + i * width,
                static_cast<std::size_t>(width));
  Shape strides = dense_strides(dense.shape());
  for (std::int64_t& stride : strides) stride *= 2;
  return wide.view(0, dense.shape(), strides);
}

struct Prepared {
  kernels::Schedule schedule;
  Tensor result;
  std::vector<std::vector<std::uint8_t>> scratch;
  std::vector<Tensor> operands;

  void* pointer(kernels::Argument argument) {
    switch (argument.kind) {
      case kernels::Argument::Kind::operand:
        return operands[argument.index].data();
      case kernels::Argument::Kind::result:
        return result.data();
      default:
        return scratch[argument.index].data();
    }
  }
  std::int64_t bytes(kernels::Argument argument) const {
    switch (argument.kind) {
      case kernels::Argument::Kind::operand: {
        const Tensor& tensor = operands[argument.index];
        std::int64_t last = 0;
        for (std::size_t k = 0; k < tensor.shape().size(); ++k)
          last += (tensor.shape()[k] - 1) * tensor.strides()[k];
        return tensor.size() > 0 ? (last + 1) * static_cast<std::int64_t>(size_of(tensor.dtype()))
                                 : 0;
      }
      case kernels::Argument::Kind::result:
        return result.bytes();
      default:
        return static_cast<std::int64_t>(scratch[argument.index].size());
    }
  }
};

inline Prepared prepare(const KernelCase& c, const Target& target) {
  ValueId out = c.graph.outputs()[0].value;
  const Node& node = c.graph.node_of(out);
  kernels::Request request{node.op, node.attributes, {}, {}};
  Prepared p;
  for (ValueId input : node.inputs) {
    p.operands.push_back(tensor_of(c.inputs, c.graph.node_of(input).attributes.text("name")));
    const Tensor& tensor = p.operands.back();
    request.operands.push_back({tensor.dtype(), tensor.shape(), tensor.strides()});
  }
  Shape shape = shape_of(c.graph.type(out).dims, bind_sizes(c.graph, c.inputs));
  request.result = {c.graph.type(out).dtype, shape, dense_strides(shape)};
  p.result = Tensor::allocate(request.result.dtype, shape);
  std::memset(p.result.data(), 0x5a, static_cast<std::size_t>(p.result.bytes()));
  p.schedule = kernels::make_schedule(request, target);
  for (std::int64_t bytes : p.schedule.scratch_bytes)
    p.scratch.emplace_back(static_cast<std::size_t>(bytes), std::uint8_t{0xa5});
  for (const kernels::Launch& launch : p.schedule.launches) loop::verify(*launch.kernel);
  return p;
}

inline void expect_reference(const KernelCase& c, const Tensor& result, const std::string& where) {
  auto expected = evaluate_bounded(c.graph, c.inputs);
  Comparison compared = compare_with_oracle(result, expected[c.graph.outputs()[0].value]);
  ASSERT_EQ(compared.mismatches, 0)
      << where << ": at " << to_string(compared.first->index) << " " << compared.first->actual
      << " instead of " << compared.first->expected << " " << compared.first->allowed << "\n"
      << c.graph.to_text();
}

inline void run_on_cpu(const KernelCase& c) {
  Device& device = open_device("cpu");
  Prepared p = prepare(c, device.target());
  auto queue = device.make_queue();
  for (const kernels::Launch& launch : p.schedule.launches) {
    std::vector<void*> pointers;
    for (kernels::Argument a : launch.arguments) pointers.push_back(p.pointer(a));
    auto kernel = device.compile(*launch.kernel);
    queue->launch({.kernel = kernel.get(),
                   .buffers = pointers,
                   .params = launch.params,
                   .blocks = launch.blocks});
    queue->wait();
  }
  expect_reference(c, p.result, "cpu");
}

// All cases are compiled together: starting the host compiler takes longer than compiling.
inline void run_on_host(const std::vector<KernelCase>& cases) {
  if (!host::compiler_missing().empty()) return;
  std::vector<Prepared> prepared;
  std::vector<host::Source> sources;
  std::map<std::string, std::size_t> known;
  std::vector<std::vector<std::size_t>> positions;
  for (const KernelCase& c : cases) {
    prepared.push_back(prepare(c, cuda_target()));
    positions.emplace_back();
    for (const kernels::Launch& launch : prepared.back().schedule.launches) {
      auto [found, added] = known.try_emplace(loop::to_text(*launch.kernel), sources.size());
      if (added) {
        loop::Kernel own = *launch.kernel;  // names of functions must differ
        own.name += "_" + std::to_string(sources.size());
        sources.push_back(host::source_of(own));
      }
      positions.back().push_back(found->second);
    }
  }
  host::Kernels compiled(std::move(sources));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Prepared& p = prepared[i];
    for (std::size_t n = 0; n < p.schedule.launches.size(); ++n) {
      const kernels::Launch& launch = p.schedule.launches[n];
      std::vector<host::Span> spans;
      for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
        auto width = static_cast<std::int64_t>(size_of(launch.kernel->buffers[a].dtype));
        spans.push_back({p.pointer(launch.arguments[a]), p.bytes(launch.arguments[a]) / width});
      }
      std::string fault = compiled.run(positions[i][n], spans, launch.params, launch.blocks, i);
      ASSERT_EQ(fault, "") << print_cuda_body(*launch.kernel);
    }
    expect_reference(cases[i], p.result, "host simulator");
    if (::testing::Test::HasFailure()) return;
  }
}

inline void run_everywhere(const std::vector<KernelCase>& cases) {
  for (const KernelCase& c : cases) {
    run_on_cpu(c);
    if (::testing::Test::HasFailure()) return;
  }
  run_on_host(cases);
}

}  // namespace fuseline::test
