// (x - a) / b * c + d, limited, to half: beside copies of the same bytes, and from submit to done.
#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/half.hpp"
#include "cuda/benchmarks.hpp"
#include "cuda/program_row.hpp"
#include "cuda/stream_kernels.hpp"
#include "fuseline/ops.hpp"
#include "fuseline/program.hpp"

namespace fuseline::bench {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 24, small = std::int64_t{1} << 20;
constexpr std::size_t large_count = 8;   // 805 MB in rotation
constexpr std::size_t small_count = 64;  // 403 MB in rotation
constexpr double element_bytes = 4 + 2;
constexpr double most_small_us = 15;

float expected(float x) {
  auto a = static_cast<float>(chain_a), b = static_cast<float>(chain_b),
       c = static_cast<float>(chain_c), d = static_cast<float>(chain_d);
  float y = (x - a) / b * c + d;
  return std::min(std::max(y, static_cast<float>(chain_low)), static_cast<float>(chain_high));
}

class ChainBench {
 public:
  ChainBench(Session& session, const MeasureOptions& options)
      : session_(session), harness_(session, options) {
    make_buffers();
    add_memory_rows();
    add_program_rows();
    harness_.compare({"16.8M: share of the memory's speed",
                      "fuseline 16.8M, recorded",
                      {"memcpy", "stream 2:1"},
                      0.90});
    harness_.note("elements", {{"large", large}, {"small", small}});
  }

  void run() { harness_.run("(x - a) / b * c + d, limited, f32 to f16, us a run"); }

 private:
  void make_buffers() {
    std::vector<float> noise(large + large_count);
    std::uint32_t seed = 7;
    for (float& x : noise)
      x = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-22f - 2;
    for (std::size_t i = 0; i < large_count; ++i) {
      x_.push_back(session_.allocate(4 * large));
      y_.push_back(session_.allocate(2 * large));
      copies_.push_back(session_.allocate(3 * large));
      session_.upload(x_[i], noise.data() + i, 4 * large);
    }
    noise_ = std::move(noise);
  }

  void add_memory_rows() {
    std::vector<StreamUnit> copies, streams;
    for (std::size_t i = 0; i < large_count; ++i) {
      copies.push_back({x_[i], copies_[i]});
      streams.push_back({x_[i], y_[i]});
    }
    for (Row& row : copy_rows(session_, "memcpy", element_bytes * large, copies))
      harness_.add(std::move(row));
    for (Row& row : stream_rows(session_, "stream 2:1", 2, 1, large / 8, streams))
      harness_.add(std::move(row));
  }

  Run run_of(void* x, void* y, std::int64_t elements) const {
    DeviceId device = session_.device().id();
    return {{{"x", Tensor(x, DType::f32, {elements}, device)}},
            {{"y", Tensor(y, DType::f16, {elements}, device)}}};
  }

  void add_program_rows() {
    std::vector<Run> large_runs, small_runs;
    for (std::size_t i = 0; i < large_count; ++i) large_runs.push_back(run_of(x_[i], y_[i], large));
    for (std::size_t i = 0; i < small_count; ++i) {
      std::size_t buffer = i % large_count;
      auto offset = static_cast<std::int64_t>(i / large_count) * small;
      small_runs.push_back(run_of(x_[buffer] + 4 * offset, y_[buffer] + 2 * offset, small));
    }
    Graph graph = half_chain_graph();
    add(program_row(session_, "fuseline 16.8M, recorded", graph, {}, large_runs,
                    element_bytes * large),
        large_runs.back(), large_count - 1, 0);
    add(program_row(session_, "unfused 16.8M, recorded", graph, {.fusion = false}, large_runs,
                    element_bytes * large),
        large_runs.back(), large_count - 1, 0);
    add(program_row(session_, "fuseline 1M, recorded, rotating", graph, {}, small_runs,
                    element_bytes * small),
        small_runs.back(), (small_count - 1) % large_count,
        static_cast<std::int64_t>((small_count - 1) / large_count) * small);
    Row lane = lane_row(session_, "fuseline 1M, Lane::run, submit to done", graph, {},
                        small_runs[0], element_bytes * small);
    lane.at_most_us = most_small_us;
    add(std::move(lane), small_runs[0], 0, 0);
    for (Row& row : recorded_rows(session_, "fuseline 1M", graph, {}, small_runs[0]))
      add(std::move(row), small_runs[0], 0, 0);
  }

  void add(Row row, const Run& run, std::size_t buffer, std::int64_t offset) {
    const Tensor &x = run.inputs[0].second, &y = run.outputs[0].second;
    row.check = [this, name = row.name, y, n = x.size(), first = noise_.data() + buffer + offset] {
      std::vector<std::uint16_t> halves(static_cast<std::size_t>(n));
      session_.download(halves.data(), y.data(), 2 * halves.size());
      session_.fill(y.data(), 0x55, 2 * halves.size());
      for (std::size_t i = 0; i < halves.size(); ++i) {
        float wanted = expected(first[i]), given = half_to_float(halves[i]);
        if (!(std::abs(given - wanted) <= std::max(std::abs(wanted), 0x1p-14f) * 0x1.04p-11f))
          throw Mismatch(fmt::format("{}: element {} is {}, {} expected", name, i, given, wanted));
      }
    };
    harness_.add(std::move(row));
  }

  Session& session_;
  Harness harness_;
  std::vector<char*> x_, y_, copies_;
  std::vector<float> noise_;
};

// What an application does: tensors on the device, Lane::run, and the result is there.
class HalfChainCase final : public BenchCase {
 public:
  HalfChainCase(Device& device, const std::string& file, std::int64_t elements)
      : session_(device),
        host_(static_cast<std::size_t>(elements) * sizeof(float)),
        lane_(compile(half_chain_graph(), {.device = "cuda"}).make_lane()) {
    host_.read(file);
    DeviceId id = device.id();
    char *x = session_.allocate(host_.size()), *y = session_.allocate(host_.size() / 2);
    session_.upload(x, host_.data(), host_.size());
    inputs_ = {{"x", Tensor(static_cast<void*>(x), DType::f32, {elements}, id)}};
    outputs_ = {{"y", Tensor(static_cast<void*>(y), DType::f16, {elements}, id)}};
  }

  void run() override { lane_.run(inputs_, outputs_); }

  void dump(const std::filesystem::path& folder) override {
    Buffer y(host_.size() / 2);
    session_.download(y.data(), outputs_[0].second.data(), y.size());
    y.write(folder / "y.raw");
  }

 private:
  Session session_;
  Buffer host_;
  Lane lane_;
  TensorMap inputs_, outputs_;
};

}  // namespace

Graph half_chain_graph() {
  Graph graph;
  Value x = graph.input("x", DType::f32, {Dim::symbol("N")});
  Value y = (x - chain_a) / chain_b * chain_c + chain_d;
  graph.output("y", cast(clip(y, chain_low, chain_high), DType::f16));
  return graph;
}

std::unique_ptr<BenchCase> make_half_chain_case(Device& device, const Arguments& arguments) {
  if (arguments.size() != 2) fail("serve-chain: FILE ELEMENTS are expected");
  return std::make_unique<HalfChainCase>(device, arguments[0],
                                         parse_integer(arguments[1], "elements"));
}

void run_chain(Session& session, const MeasureOptions& options) {
  ChainBench(session, options).run();
}

}  // namespace fuseline::bench
