// What n tiny kernels cost: a Program's recording beside CUDA's own graph of n empty kernels.
#include <array>

#include "base/fail.hpp"
#include "cuda/benchmarks.hpp"
#include "cuda/program_row.hpp"
#include "fuseline/ops.hpp"

namespace fuseline::bench {
namespace {

constexpr std::int64_t elements = 32;
constexpr std::array counts = {1, 5, 20, 37, 100, 500};
constexpr double most_cost = 1.10;

constexpr const char* kernels = R"(
extern "C" __global__ void empty() {}
extern "C" __global__ void tiny(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x] * 1.5f;
}
)";

// n operations, each a kernel of its own where fusion is off. A longer chain begins like a shorter
// one, so that its kernels are compiled already.
Graph chain_of(int n) {
  Graph graph;
  Value x = graph.input("x", DType::f32, {elements});
  for (int i = 0; i < n; ++i) x = i % 2 ? x + 0.25 : x * 0.5;
  graph.output("y", x);
  return graph;
}

class LaunchBench {
 public:
  LaunchBench(Session& session, const MeasureOptions& options)
      : session_(session), options_(options), harness_(session, options) {
    session_.compile(kernels, "launch");
    for (char*& buffer : buffers_) buffer = session_.allocate(elements * sizeof(float));
    for (int n : counts) add_rows(n);
  }

  void run() { harness_.run("Launching n tiny kernels, us for all n"); }

 private:
  void add_rows(int n) {
    std::string prefix = fmt::format("n {:>3}", n);
    // "--only 'n   5'" must not compile 500 kernels.
    if (!options_.only.empty() && prefix.find(options_.only) == std::string::npos) return;
    auto name = [&](const char* what) { return prefix + ", " + what; };
    add_graph(name("graph of empty kernels"), record("empty", n, 0), n);
    add_graph(name("graph of hand-written tiny kernels"), record("tiny", n, 2), n);
    add_stream(name("empty launches in a stream"), n);
    add_programs(prefix, n);
    const std::string empty = name("graph of empty kernels");
    cost(name("Lane::run / graph of empty kernels"), name("Lane::run, submit to done"),
         empty + ", submit to done");
    cost(name("Queue::replay / graph of empty kernels"), name("Queue::replay, submit to done"),
         empty + ", submit to done");
    cost(name("recording / graph of empty kernels, on the device"), name("recording, back to back"),
         empty + ", back to back");
    cost(name("recording / hand-written tiny kernels, on the device"),
         name("recording, back to back"), name("graph of hand-written tiny kernels, back to back"));
  }

  void cost(const std::string& name, const std::string& of, const std::string& against) {
    harness_.compare({name, of, {against}, {}, most_cost});
  }

  std::shared_ptr<Recorded> record(const char* kernel_name, int n, int arguments) {
    HandKernel kernel = session_.kernel(kernel_name);
    Recorder recorder(session_);
    for (int i = 0; i < n; ++i) {
      std::uint64_t values[] = {reinterpret_cast<std::uint64_t>(buffers_[i % 2]),
                                reinterpret_cast<std::uint64_t>(buffers_[(i + 1) % 2])};
      recorder.launch(kernel.function, 1, elements,
                      std::span(values, static_cast<std::size_t>(arguments)));
    }
    return recorder.finish();
  }

  // As the caller sees it, and one replay right behind the other.
  void add_graph(const std::string& name, const std::shared_ptr<Recorded>& graph, int n) {
    Row wall, device;
    wall.name = name + ", submit to done";
    wall.run = [this, graph](int times) {
      for (int i = 0; i < times; ++i) {
        graph->replay(1);
        session_.wait();
      }
    };
    device.name = name + ", back to back";
    device.replay = [graph](int times) { graph->replay(times); };
    wall.facts.kernels = device.facts.kernels = n;
    harness_.add(std::move(wall));
    harness_.add(std::move(device));
  }

  void add_stream(const std::string& name, int n) {
    Row row;
    row.name = name + ", submit to done";
    row.facts.kernels = n;
    row.run = [this, n, function = session_.kernel("empty").function](int times) {
      for (int i = 0; i < times; ++i) {
        for (int k = 0; k < n; ++k)
          FUSELINE_CUDA(
              launch(function, 1, 1, 1, elements, 1, 1, 0, session_.stream(), nullptr, nullptr));
        session_.wait();
      }
    };
    harness_.add(std::move(row));
  }

  void add_programs(const std::string& prefix, int n) {
    DeviceId device = session_.device().id();
    Run run{{{"x", Tensor(static_cast<void*>(buffers_[2]), DType::f32, {elements}, device)}},
            {{"y", Tensor(static_cast<void*>(buffers_[3]), DType::f32, {elements}, device)}}};
    CompileOptions options{.fusion = false};
    Graph graph = chain_of(n);
    std::vector<Row> rows = recorded_rows(session_, prefix, graph, options, run);
    KernelFacts facts = rows[0].facts;
    if (facts.kernels != n)
      fail_internal(fmt::format("{} operations became {} kernels", n, facts.kernels));
    rows.push_back(
        lane_row(session_, prefix + ", Lane::run, submit to done", graph, options, run, 0));
    rows.back().facts = facts;
    for (Row& row : rows) {
      row.check = [this, n, name = row.name] { check(name, n); };
      harness_.add(std::move(row));
    }
  }

  void check(const std::string& name, int n) {
    std::array<float, elements> y = {};
    session_.download(y.data(), buffers_[3], sizeof y);
    session_.fill(buffers_[3], 0x55, sizeof y);
    float wanted = 0;  // what allocate() left in the input
    for (int i = 0; i < n; ++i) wanted = i % 2 ? wanted + 0.25f : wanted * 0.5f;
    for (float value : y)
      if (value != wanted) throw Mismatch(fmt::format("{}: {}, {} expected", name, value, wanted));
  }

  Session& session_;
  MeasureOptions options_;
  Harness harness_;
  std::array<char*, 4> buffers_ = {};
};

}  // namespace

void run_launch(Session& session, const MeasureOptions& options) {
  LaunchBench(session, options).run();
}

}  // namespace fuseline::bench
