// Program: compilation of a graph, and the Instances by size.
#include "fuseline/program.hpp"

#include <algorithm>
#include <set>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "emit/cuda_c/print.hpp"
#include "graph/check_sizes.hpp"
#include "graph/op_table.hpp"
#include "passes/pipeline.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"

namespace fuseline {
namespace {

// A C identifier that tells what is inside; the same for equal Regions of different graphs.
std::string kernel_name(const Graph& graph, const Region& region) {
  constexpr std::size_t longest = 48;
  std::string name = "fl";
  std::string last;
  std::vector<ValueId> order(region.operations);
  std::sort(order.begin(), order.end());
  for (ValueId value : order) {
    std::string op(name_of(graph.node_of(value).op));
    if (op == last) continue;
    if (name.size() + op.size() + 1 > longest) break;
    name += "_" + op;
    last = op;
  }
  return region.operations.empty() ? "fl_copy" : name;
}

std::string call_name(const Graph& graph, const Call& call) {
  std::string name;
  for (ValueId value : call.operations)
    name += (name.empty() ? "" : "_") + std::string(name_of(graph.node_of(value).op));
  return name;
}

void check_supported(const Graph& graph) {
  for (const Node& node : graph.nodes())
    for (const Dim& dim : graph.type(node.output).dims)
      if (dim.has(Dim::Kind::bounded))
        fail("{}: its size {} has a bound; Programs take late sizes instead", name_of(node.op),
             dim.to_string());
}

bool has_contraction(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const Node& n) { return info(n.op).space != nullptr; });
}

// The target that CUDA text is planned for where no GPU is asked.
Target generic_cuda_target() {
  Target target;
  target.kind = DeviceKind::cuda;
  target.name = "cuda";
  target.vector_bytes = 16;
  target.block_threads = 256;
  target.warp = 32;
  return target;
}

// Each once, in the graph's order.
std::vector<std::string> origins_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> origins;
  for (ValueId value : values) {
    const std::string& name = graph.node_of(value).origin;
    if (!name.empty() && std::find(origins.begin(), origins.end(), name) == origins.end())
      origins.push_back(name);
  }
  return origins;
}

PlanGuards dense_guards(const Region& region) {
  PlanGuards guards;
  for (const RegionSource& source : region.sources)
    guards.sources.push_back({static_cast<int>(source.dims.size())});
  return guards;
}

}  // namespace

namespace {

PassOptions pass_options(const CompileOptions& options) {
  PassOptions passes{options.disabled_passes, std::nullopt, options.keep_fp32};
  if (options.precision == Precision::bf16) passes.low = DType::bf16;
  if (options.precision == Precision::fp16) passes.low = DType::f16;
  return passes;
}

}  // namespace

Program::Impl::Impl(const Graph& source, const CompileOptions& given, Device& on, Choices chosen,
                    bool passed)
    : options(given), choices(std::move(chosen)), device(on), built(on) {
  if (options.deterministic && !choices.shape)
    choices.shape = [](const std::string&, std::span<const LaunchShape>) { return std::size_t{0}; };
  if (options.library && has_contraction(source)) call_types = device.call_types();
  Target target = device.target();
  // Segments are Programs of their own, with passes of their own behind these.
  target.library_calls = options.fusion && !call_types.empty() && !has_late_sizes(source);
  graph = passed ? source : run_passes(source, pass_options(options), target);
  check_supported(graph);
  if (has_late_sizes(graph)) {
    CompileOptions inner = options;
    inner.precision = Precision::fp32;  // lowered above, where it was asked
    for (Segment& segment : cut_segments(graph))
      segments.push_back({compile_on(device, segment.graph, inner, choices),
                          std::move(segment.crossing), std::move(segment.sizes),
                          std::move(segment.reason)});
    return;
  }
  plan_regions();
  upload_constants();
  std::set<std::string> operands = operand_inputs(graph);
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    if (operands.contains(graph.inputs()[i].name)) operand_inputs_.push_back(i);
}

std::vector<Task> Program::Impl::partitioned(int max_operations) {
  std::vector<Task> made;
  std::set<std::string> names;
  PartitionOptions how{options.fusion, options.parity, max_operations, call_types,
                       device.target().kind == DeviceKind::cpu};
  for (Work& work : partition(graph, how)) {
    auto* region = std::get_if<Region>(&work);
    std::string base =
        region ? kernel_name(graph, *region) : call_name(graph, std::get<Call>(work));
    std::string name = base;
    for (int n = 2; !names.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    Task task{nullptr, std::nullopt, name};
    if (region)
      task.kernels = std::make_unique<RegionKernels>(std::move(*region), name, device);
    else
      task.call = std::move(std::get<Call>(work));
    made.push_back(std::move(task));
  }
  return made;
}

namespace {

// Below this no Region has been seen to spill, and none is worth cutting.
constexpr int least_split_operations = 32;

struct Spills {
  int bytes = 0;
  int operations = 0;  // of the largest Region that spills
};

// Compiles the Regions of so many operations, as a first run of ordinary size would.
Spills spills_of(const std::vector<Task>& tasks, int least) {
  Spills spills;
  for (const Task& task : tasks) {
    if (!task.kernels) continue;
    const auto& kernels = task.kernels;
    int operations = static_cast<int>(kernels->region().operations.size());
    if (operations < least) continue;
    PlanGuards guards = dense_guards(kernels->region());
    guards.aligned = true;
    int bytes = kernels->get(guards)->compiled->record.spill_bytes.value_or(0);
    if (bytes == 0) continue;
    spills.bytes += bytes;
    spills.operations = std::max(spills.operations, operations);
  }
  return spills;
}

}  // namespace

// A Region whose registers do not fit goes through memory at every element: it is cut while that
// lessens what is spilled.
void Program::Impl::plan_regions() {
  constexpr int attempts = 3;
  int limit = PartitionOptions().max_operations;
  tasks = partitioned(limit);
  if (device.target().kind != DeviceKind::cuda || !options.fusion) return;
  if (spills_of(tasks, least_split_operations).bytes == 0) return;
  Spills spills = spills_of(tasks, 0);
  for (int i = 0; i < attempts && spills.bytes > 0; ++i) {
    limit = std::min(limit, spills.operations) / 2;
    auto cut = partitioned(limit);
    Spills left = spills_of(cut, 0);
    if (left.bytes >= spills.bytes) continue;
    log_info("Regions above {} operations are cut: {} bytes were spilled, {} are", limit,
             spills.bytes, left.bytes);
    tasks = std::move(cut);
    spills = left;
  }
}

void Program::Impl::upload_constants() {
  auto queue = device.make_queue();
  for (const Task& task : tasks)
    if (task.kernels)
      for (const RegionSource& source : task.kernels->region().sources)
        upload_constant(source.value, *queue, true);
  for (const Task& task : tasks)
    if (task.call)
      for (ValueId operand : task.call->operands) upload_constant(operand, *queue, false);
  queue->wait();
}

// Libraries rearrange what they are given, wherever it lies; kernels need their elements aligned,
// which those of a mapped file may not be.
void Program::Impl::upload_constant(ValueId value, Queue& queue, bool for_kernel) {
  const Node& node = graph.node_of(value);
  if (node.op != OpCode::constant || constant_of.contains(value)) return;
  constant_of[value] = constants.size();
  const Tensor& tensor = node.attributes.tensor("value");
  bool aligned = reinterpret_cast<std::uintptr_t>(tensor.data()) % size_of(tensor.dtype()) == 0;
  if (device.id().kind == DeviceKind::cpu && (aligned || !for_kernel)) {  // read where it is
    auto kept = std::make_shared<Tensor>(tensor);
    constants.emplace_back(kept, kept->data());
    return;
  }
  auto bytes = static_cast<std::size_t>(tensor.bytes());
  constants.push_back(device.allocate(std::max<std::size_t>(bytes, 1)));
  queue.upload(constants.back().get(), tensor.data(), bytes);
}

std::size_t Program::Impl::KeyHash::operator()(const std::vector<std::int64_t>& key) const {
  std::size_t hash = 1469598103934665603ull;  // FNV-1a
  for (std::int64_t part : key) hash = (hash ^ static_cast<std::size_t>(part)) * 1099511628211ull;
  return hash;
}

// Shapes and strides of the inputs, and the values of those that are sizes.
void Program::Impl::key_of(const TensorMap& inputs, bool outputs_aligned,
                           std::vector<std::int64_t>& key) const {
  key.clear();
  bool cuda = device.target().kind == DeviceKind::cuda;
  auto append = [&](const Tensor& tensor) {
    key.push_back(static_cast<std::int64_t>(tensor.dtype()));
    key.push_back(static_cast<std::int64_t>(tensor.shape().size()));
    key.insert(key.end(), tensor.shape().begin(), tensor.shape().end());
    key.insert(key.end(), tensor.strides().begin(), tensor.strides().end());
    // Vector access on CUDA needs aligned bases; copies from host memory always are.
    bool on_device = cuda && tensor.device().kind == DeviceKind::cuda;
    key.push_back(
        on_device ? static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(tensor.data()) % 16)
                  : 0);
  };
  key.push_back(static_cast<std::int64_t>(inputs.size()));
  key.push_back(outputs_aligned);
  for (const NamedValue& declared : graph.inputs()) {
    auto found = std::find_if(inputs.begin(), inputs.end(),
                              [&](const auto& in) { return in.first == declared.name; });
    if (found == inputs.end()) return key.clear();  // binding will tell what is wrong
    append(found->second);
  }
  for (std::size_t position : operand_inputs_) {
    const Tensor& tensor = tensor_of(inputs, graph.inputs()[position].name);
    if (!tensor.is_dense()) return key.clear();
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      auto* element =
          tensor.as<const char>() + i * static_cast<std::int64_t>(size_of(tensor.dtype()));
      key.push_back(load_number(element, tensor.dtype()).i);
    }
  }
}

namespace {

// A run of a known size allocates nothing.
std::vector<std::int64_t>& key_memory() {
  static thread_local std::vector<std::int64_t> key;
  return key;
}

}  // namespace

std::shared_ptr<const Instance> Program::Impl::find(const std::vector<std::int64_t>& key) {
  std::lock_guard lock(mutex);
  auto found = instances_.find(key);
  if (key.empty() || found == instances_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->second;
}

std::shared_ptr<const Instance> Program::Impl::known_instance(const TensorMap& inputs,
                                                              bool outputs_aligned) {
  std::vector<std::int64_t>& key = key_memory();
  key_of(inputs, outputs_aligned, key);
  return find(key);
}

void Program::Impl::lose(const std::string& why) {
  std::lock_guard guard(mutex);
  if (lost.empty()) lost = why;
}

void Program::Impl::refuse_if_lost() {
  std::lock_guard guard(mutex);
  if (!lost.empty()) fail_device("this Program cannot run any more: {}", lost);
}

std::shared_ptr<const Instance> Program::Impl::instance(const TensorMap& inputs,
                                                        bool outputs_aligned) {
  std::vector<std::int64_t>& key = key_memory();
  key_of(inputs, outputs_aligned, key);
  if (auto found = find(key)) return found;
  // Outside the lock: compiling one size must not stop the others from running.
  std::shared_ptr<const Instance> made = make_instance(*this, inputs, outputs_aligned);
  if (key.empty()) return made;
  std::lock_guard lock(mutex);
  if (auto found = instances_.find(key); found != instances_.end()) return found->second->second;
  recent_.emplace_front(key, made);
  instances_[key] = recent_.begin();
  if (recent_.size() > max_instances) {
    instances_.erase(recent_.back().first);
    recent_.pop_back();
  }
  return made;
}

namespace {

// A Lane from the pool, back to it when the run ends, failed or not.
class Borrowed {
 public:
  explicit Borrowed(const std::shared_ptr<Program::Impl>& program) : program_(*program) {
    std::lock_guard lock(program_.mutex);
    if (program_.idle.empty()) return;
    lane_ = std::move(program_.idle.back());
    program_.idle.pop_back();
  }
  ~Borrowed() {
    if (!lane_) return;  // making one failed
    // The pool must not keep its Program alive.
    lane_->program.reset();
    std::lock_guard lock(program_.mutex);
    program_.idle.push_back(std::move(lane_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Lane::Impl& lane(const std::shared_ptr<Program::Impl>& program) {
    if (!lane_) lane_ = std::make_unique<Lane::Impl>(program);
    lane_->program = program;
    return *lane_;
  }

 private:
  Program::Impl& program_;
  std::unique_ptr<Lane::Impl> lane_;
};

}  // namespace

void Program::run(const TensorMap& inputs, const TensorMap& outputs) const {
  Borrowed borrowed(impl_);
  borrowed.lane(impl_).run(inputs, outputs);
}

std::vector<Tensor> Program::run(const TensorMap& inputs) const {
  if (!impl_->segments.empty()) {
    Borrowed borrowed(impl_);
    return borrowed.lane(impl_).run_segments(inputs, {});
  }
  std::vector<Shape> shapes = output_shapes(inputs);
  TensorMap outputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const NamedValue& output = impl_->graph.outputs()[i];
    outputs.emplace_back(output.name,
                         Tensor::allocate(impl_->graph.type(output.value).dtype, shapes[i]));
  }
  run(inputs, outputs);
  std::vector<Tensor> tensors;
  for (auto& [name, tensor] : outputs) tensors.push_back(tensor);
  return tensors;
}

Tensor Program::allocate(DType dtype, const Shape& shape) const {
  std::int64_t bytes = element_count(shape) * static_cast<std::int64_t>(size_of(dtype));
  auto memory = impl_->device.allocate_host(static_cast<std::size_t>(bytes));
  void* data = memory.get();
  return Tensor::shared(std::move(memory), data, dtype, shape);
}

Lane Program::make_lane() const { return Lane(std::make_unique<Lane::Impl>(impl_)); }

std::vector<Shape> Program::output_shapes(const TensorMap& inputs) const {
  if (impl_->segments.empty()) return impl_->instance(inputs)->output_shapes;
  DimBindings sizes = bind_sizes(impl_->graph, inputs);
  std::vector<Shape> shapes;
  for (const auto& [name, value] : impl_->graph.outputs()) {
    const Dims& dims = impl_->graph.type(value).dims;
    for (const Dim& dim : dims)
      if (dim.has(Dim::Kind::late))
        fail("output {}: its size {} is known only after a run", name, dim.to_string());
    shapes.push_back(shape_of(dims, sizes));
  }
  return shapes;
}

namespace {

std::vector<std::string> operation_names(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId value : values)
    names.push_back(fmt::format("%{} = {}", value, name_of(graph.node_of(value).op)));
  return names;
}

KernelReport report_of(const Graph& graph, const Task& task) {
  KernelReport report;
  report.name = task.name;
  bool own = info(graph.node_of(task.call->operation).op).group == OpGroup::kernel;
  report.plan = own ? "kernels of its own, made for each size" : "a call of the device's library";
  report.is_call = true;
  report.values = task.call->operations;
  report.operations = operation_names(graph, task.call->operations);
  report.origins = origins_of(graph, task.call->operations);
  report.reasons = task.call->reasons;
  return report;
}

}  // namespace

std::vector<KernelReport> Program::report() const {
  std::vector<KernelReport> reports;
  for (const CompiledSegment& segment : impl_->segments)
    for (KernelReport& report : segment.program.report()) {
      if (!segment.reason.empty()) report.reasons.push_back(segment.reason);
      reports.push_back(std::move(report));
    }
  for (const Task& task : impl_->tasks) {
    if (task.call) {
      reports.push_back(report_of(impl_->graph, task));
      continue;
    }
    const auto& kernels = task.kernels;
    const Region& region = kernels->region();
    PlanGuards guards = dense_guards(region);
    auto kernel = kernels->get(guards);
    KernelReport report;
    report.name = kernels->name();
    report.plan = kernel->plan.describe();
    report.values = region.operations;
    report.operations = operation_names(impl_->graph, region.operations);
    report.origins = origins_of(impl_->graph, region.operations);
    report.reasons = region.reasons;
    report.loop_ir = loop::to_text(kernel->lowered.kernel);
    report.source = impl_->device.source_of(kernel->lowered.kernel);
    KernelPlan cuda = make_plan(region, guards, generic_cuda_target());
    report.cuda_source = print_cuda(lower(cuda, kernels->name()).kernel);
    const KernelRecord& record = kernel->compiled->record;
    report.cache_hit = record.cache_hit;
    report.compile_ms = record.generate_ms + record.compile_ms + record.load_ms;
    report.registers = record.registers;
    report.spill_bytes = record.spill_bytes;
    reports.push_back(std::move(report));
  }
  return reports;
}

ProgramStats Program::stats() const {
  ProgramStats stats;
  for (const Task& task : impl_->tasks)
    if (task.kernels) stats.kernels += task.kernels->count();
  stats.kernels += impl_->built.count();
  for (const CompiledSegment& segment : impl_->segments) {
    ProgramStats own = segment.program.stats();
    stats.kernels += own.kernels;
    stats.instances += own.instances;
    stats.arena_bytes += own.arena_bytes;
  }
  stats.recording = impl_->device.make_queue()->record_refusal();
  std::lock_guard lock(impl_->mutex);
  stats.instances += static_cast<int>(impl_->instance_count());
  stats.arena_bytes += impl_->arena_bytes;
  return stats;
}

MemoryUse Program::memory(const TensorMap& inputs) const {
  auto instance = impl_->instance(inputs);
  MemoryUse use{instance->arena_bytes, instance->live_bound, 0};
  for (const auto& [value, position] : impl_->constant_of)
    use.constants += impl_->graph.node_of(value).attributes.tensor("value").bytes();
  return use;
}

std::vector<ValueId> Program::stored() const {
  std::vector<ValueId> values;
  for (const Task& task : impl_->tasks) {
    if (task.call) {
      values.push_back(task.call->output);
      continue;
    }
    const Region& region = task.kernels->region();
    for (const RegionOutput& point : region.points) values.push_back(point.value);
    for (const RegionOutput& result : region.results) values.push_back(result.value);
  }
  return values;
}

const Graph& Program::graph() const { return impl_->graph; }
std::string_view Program::device() const { return impl_->device.target().name; }

Program compile_on(Device& device, const Graph& graph, const CompileOptions& options,
                   Choices choices, bool passed) {
  verify(graph);
  return Program(
      std::make_shared<Program::Impl>(graph, options, device, std::move(choices), passed));
}

Program compile(const Graph& graph, const CompileOptions& options) {
  return compile_on(open_device(options.device), graph, options);
}

}  // namespace fuseline
