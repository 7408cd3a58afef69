// Random graphs through evaluate, the CPU and CUDA on the host: all must agree.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>

#include "base/fail.hpp"
#include "fuse/plan.hpp"
#include "fuzz/agreement.hpp"
#include "fuzz/host_device.hpp"
#include "fuzz/mutations.hpp"
#include "fuzz/random_graph.hpp"
#include "graph/evaluate.hpp"
#include "graph/op_table.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"

namespace fuseline::fuzz {
namespace {

// FUSELINE_FUZZ_CASES=N for long runs, FUSELINE_FUZZ_SEED=S to start elsewhere.
std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The fewest operations with which the seed still fails, and its graph.
std::string shrunk(std::uint64_t seed, const MakeProgram& make) {
  for (int operations = 1; operations < all_operations; ++operations) {
    Case c = random_case(seed, operations);
    std::optional<std::string> fault;
    try {
      fault = check(c, seed, make);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!fault) continue;
    std::string sizes;
    for (const auto& s : c.sizes)
      for (const auto& [name, value] : s) sizes += fmt::format("{}={} ", name, value);
    return fmt::format("seed {} with {} operations, {}: {}\n{}", seed, operations, sizes, *fault,
                       c.graph->to_text());
  }
  return fmt::format("seed {} fails only as a whole", seed);
}

struct Coverage {
  int graphs = 0, regions = 0, outputs = 0, reductions = 0, index_maps = 0, gathers = 0, groups = 0,
      rows = 0, columns = 0, pitched = 0, multi_block = 0;
};

void count(Coverage& total, const Graph& graph, const std::vector<Work>& all,
           const Target& target) {
  ++total.graphs;
  for (const Node& node : graph.nodes())
    if (info(node.op).group == OpGroup::structural && !node.inputs.empty() &&
        node.op != OpCode::cast)
      ++total.index_maps;
  for (const Work& work : all) {
    const auto& region = std::get<Region>(work);
    ++total.regions;
    total.outputs += static_cast<int>(region.points.size() + region.results.size());
    total.reductions += static_cast<int>(region.reductions.size());
    PlanGuards guards;
    for (const RegionSource& source : region.sources)
      guards.sources.push_back({static_cast<int>(source.dims.size())});
    KernelPlan plan = make_plan(region, guards, target);
    total.rows += plan.strategy == Strategy::row;
    total.columns += plan.strategy == Strategy::column;
    std::size_t reads = 0;
    for (ScalarId id = 0; id < region.dag.size(); ++id)
      reads += region.dag[id].kind == ScalarKind::read;
    total.gathers += plan.reads.size() < reads;
    for (const auto& [id, access] : plan.reads)
      if (access.channel >= 0) {
        ++total.groups;
        break;
      }
  }
}

class Fuzz : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("FUSELINE_CACHE", "off", 1); }
  std::uint64_t first_ = setting("FUSELINE_FUZZ_SEED", 1);
  std::uint64_t cases_ = setting("FUSELINE_FUZZ_CASES", 150);
};

TEST_F(Fuzz, CpuAgreesWithTheReference) {
  Device& cpu = open_device("cpu");
  MakeProgram fused = [&](const Graph& g) {
    return compile_on(cpu, g, {.device = "cpu", .parity = true});
  };
  MakeProgram unfused = [&](const Graph& g) {
    return compile_on(cpu, g, {.device = "cpu", .fusion = false, .parity = true});
  };
  Coverage coverage;
  int failures = 0;
  for (std::uint64_t seed = first_; seed < first_ + cases_ && failures < 3; ++seed) {
    Case c = random_case(seed, all_operations);
    const MakeProgram& make = seed % 4 == 0 ? unfused : fused;
    std::optional<std::string> fault;
    try {
      fault = check(c, seed, make);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (fault) {
      ++failures;
      ADD_FAILURE() << *fault << "\n" << shrunk(seed, make);
    }
    count(coverage, *c.graph, partition(*c.graph, {}), cpu.target());
  }
  fmt::print(
      "{} graphs: {} Regions, {} outputs, {} reductions, {} index maps, {} Regions with computed "
      "indices, {} "
      "with interleaved channels, {} row and {} column plans\n",
      coverage.graphs, coverage.regions, coverage.outputs, coverage.reductions, coverage.index_maps,
      coverage.gathers, coverage.groups, coverage.rows, coverage.columns);
  if (cases_ < 150) return;
  EXPECT_GE(coverage.regions, 200);
  EXPECT_GE(coverage.outputs, 250);
  EXPECT_GE(coverage.reductions, 60);
  EXPECT_GE(coverage.index_maps, 150);
  EXPECT_GE(coverage.gathers, 20);
  EXPECT_GE(coverage.groups, 20);
  EXPECT_GE(coverage.rows, 8);
  EXPECT_GE(coverage.columns, 3);
}

TEST_F(Fuzz, CudaOnTheHostAgreesWithTheReference) {
  if (auto why = host::compiler_missing(); !why.empty()) GTEST_SKIP() << why;
  HostCudaDevice device;
  struct Prepared {
    std::uint64_t seed;
    Case c;
    Program program;
  };
  std::uint64_t cases = setting("FUSELINE_FUZZ_HOST_CASES", 60);
  int failures = 0;
  constexpr std::uint64_t batch = 20;
  for (std::uint64_t start = first_; start < first_ + cases && failures < 3; start += batch) {
    std::vector<Prepared> prepared;
    for (std::uint64_t seed = start; seed < std::min(start + batch, first_ + cases); ++seed) {
      Case c = random_case(seed, all_operations);
      Program program =
          compile_on(device, *c.graph, {.fusion = seed % 4 != 0, .parity = true}, shapes_by(seed));
      for (std::size_t round = 0; round < c.sizes.size();
           ++round)  // plans every kernel of the batch
        program.output_shapes(random_inputs(*c.graph, c.sizes[round], seed + round));
      prepared.push_back({seed, std::move(c), std::move(program)});
    }
    for (Prepared& p : prepared) {
      device.set_seed(p.seed % 3);
      std::optional<std::string> fault;
      for (std::size_t round = 0; round < p.c.sizes.size() && !fault; ++round)
        fault = disagreement(p.program, p.c, round, p.seed, oracle(p.c, round, p.seed));
      if (!fault) continue;
      ++failures;
      ADD_FAILURE() << "seed " << p.seed << ": " << *fault << "\n" << p.c.graph->to_text();
    }
  }
}

// The fuzzer must notice a wrong compiler: each mutation of Loop IR has to make some case fail.
TEST_F(Fuzz, FindsEveryPlantedFault) {
  Device& cpu = open_device("cpu");
  for (const Mutation& mutation : mutations()) {
    MutatingDevice device(cpu, mutation);
    bool found = false;
    int applied = 0;
    for (std::uint64_t seed = 1; seed <= 400 && !found; ++seed) {
      Case c = random_case(seed, all_operations);
      device.reset();
      Program program = compile_on(device, *c.graph, {.device = "cpu", .parity = true});
      for (std::size_t round = 0; round < c.sizes.size() && !found; ++round) {
        program.output_shapes(random_inputs(*c.graph, c.sizes[round], seed + round));
        if (!device.applied()) continue;
        found = disagreement(program, c, round, seed, oracle(c, round, seed)).has_value();
      }
      applied += device.applied();
    }
    EXPECT_TRUE(found) << mutation.name << " was planted in " << applied
                       << " programs and never noticed";
  }
}

}  // namespace
}  // namespace fuseline::fuzz
