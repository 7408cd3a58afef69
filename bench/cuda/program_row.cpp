// Programs as rows.
#include "cuda/program_row.hpp"

#include "base/fail.hpp"
#include "device/cuda/queue.hpp"
#include "program/program_impl.hpp"

namespace fuseline::bench {
namespace {

constexpr std::size_t ticket_stride = 64;
constexpr int warm_runs =
    3;  // whatever a Program measures or records for itself is done after them

void* named(const TensorMap& tensors, const std::string& name) {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return tensor.data();
  fail_internal("the benchmark gives no tensor " + name);
}

// A Program with the working memory of one Lane.
class Recordable {
 public:
  Recordable(Session& session, const Graph& graph, CompileOptions options, const Run& run,
             Choices choices = {})
      : queue_(session.device().make_queue()) {
    options.device = "cuda";
    program_ =
        std::make_shared<Program::Impl>(graph, options, session.device(), std::move(choices));
    Lane::Impl lane(program_);
    for (int i = 0; i < warm_runs; ++i) lane.run(run.inputs, run.outputs);
    instance_ = program_->instance(run.inputs);
    arena_ = session.allocate(static_cast<std::size_t>(instance_->arena_bytes) + 256);
    tickets_ = session.allocate((instance_->steps.size() + 1) * ticket_stride);
  }

  void record(const std::vector<Run>& runs) {
    queue_->begin_record();
    for (const Run& run : runs)
      for (const Step& step : instance_->steps) launch(step, run);
    recording_ = queue_->end_record();
  }

  KernelFacts facts() const {
    KernelFacts facts;
    facts.kernels = static_cast<int>(instance_->steps.size());
    const Step& first = instance_->steps.at(0);
    facts.threads = first.shape.threads;
    facts.groups = first.shape.groups;
    facts.blocks = first.blocks;
    facts.registers = first.kernel->compiled->record.registers;
    facts.spill_bytes = first.kernel->compiled->record.spill_bytes;
    return facts;
  }

  std::vector<LaunchShape> shapes() const {
    require(instance_->steps.size() == 1, "launch shapes are compared for one kernel");
    return launch_shapes(instance_->steps[0].kernel->plan, instance_->sizes);
  }

  void replay_on(driver_api::Stream stream, int times) {
    driver_api::Exec exec = static_cast<cuda::CudaRecording&>(*recording_).exec;
    for (int i = 0; i < times; ++i) FUSELINE_CUDA(exec_launch(exec, stream));
  }

  void replay_and_wait() {
    queue_->replay(*recording_);
    queue_->wait();
  }

 private:
  void* memory_of(const Place& place, const Run& run) const {
    switch (place.kind) {
      case Place::Kind::input:
        return named(run.inputs, program_->graph.inputs()[place.index].name);
      case Place::Kind::output:
        return named(run.outputs, program_->graph.outputs()[place.index].name);
      case Place::Kind::constant:
        return program_->constants[place.index].get();
      case Place::Kind::ticket:
        return tickets_ + place.index * ticket_stride;
      case Place::Kind::arena:
        return arena_ + place.offset;
    }
    fail_internal("a kernel's pointer of an unknown kind");
  }

  void launch(const Step& step, const Run& run) {
    std::vector<void*> buffers;
    for (const Place& place : step.places) buffers.push_back(memory_of(place, run));
    Launch launch;
    launch.kernel = step.kernel->compiled.get();
    launch.buffers = buffers;
    launch.params = step.params;
    launch.blocks = step.blocks;
    launch.threads = step.shape.threads;
    queue_->launch(launch);
  }

  std::unique_ptr<Queue> queue_;
  std::shared_ptr<Program::Impl> program_;
  std::shared_ptr<const Instance> instance_;
  char *arena_ = nullptr, *tickets_ = nullptr;
  std::unique_ptr<Recording> recording_;
};

Row replayed_row(Session& session, std::string name, std::shared_ptr<Recordable> program,
                 const std::vector<Run>& runs, double bytes) {
  program->record(runs);
  Row row;
  row.name = std::move(name);
  row.bytes = bytes;
  row.units = static_cast<int>(runs.size());
  row.replay = [program, stream = session.stream()](int n) { program->replay_on(stream, n); };
  row.facts = program->facts();
  return row;
}

}  // namespace

Row program_row(Session& session, std::string name, const Graph& graph,
                const CompileOptions& options, const std::vector<Run>& runs, double bytes) {
  auto program = std::make_shared<Recordable>(session, graph, options, runs.at(0));
  return replayed_row(session, std::move(name), std::move(program), runs, bytes);
}

std::vector<Row> shape_rows(Session& session, const std::string& family, const Graph& graph,
                            const std::vector<Run>& runs, double bytes) {
  std::vector<LaunchShape> shapes = Recordable(session, graph, {}, runs.at(0)).shapes();
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Choices choices{.shape = [i](const std::string&, std::span<const LaunchShape>) { return i; }};
    auto program =
        std::make_shared<Recordable>(session, graph, CompileOptions{}, runs[0], std::move(choices));
    rows.push_back(replayed_row(
        session, fmt::format("{}, {} x {}", family, shapes[i].threads, shapes[i].groups),
        std::move(program), runs, bytes));
    rows.back().family = family;
  }
  return rows;
}

Row lane_row(Session& session, std::string name, const Graph& graph, const CompileOptions& options,
             const Run& run, double bytes) {
  CompileOptions on_device = options;
  on_device.device = "cuda";
  auto lane = std::make_shared<Lane>(compile_on(session.device(), graph, on_device).make_lane());
  Row row;
  row.name = std::move(name);
  row.bytes = bytes;
  row.run = [lane, run](int n) {
    for (int i = 0; i < n; ++i) lane->run(run.inputs, run.outputs);
  };
  return row;
}

std::vector<Row> recorded_rows(Session& session, const std::string& prefix, const Graph& graph,
                               const CompileOptions& options, const Run& run) {
  auto program = std::make_shared<Recordable>(session, graph, options, run);
  program->record({run});
  Row wall, device;
  wall.name = prefix + ", Queue::replay, submit to done";
  wall.run = [program](int n) {
    for (int i = 0; i < n; ++i) program->replay_and_wait();
  };
  device.name = prefix + ", recording, back to back";
  device.replay = [program, stream = session.stream()](int n) { program->replay_on(stream, n); };
  wall.facts = device.facts = program->facts();
  return {std::move(wall), std::move(device)};
}

}  // namespace fuseline::bench
