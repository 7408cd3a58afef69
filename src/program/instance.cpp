// Instance: guards, parameters and memory of every kernel at one size.
#include <algorithm>
#include <bit>

#include "base/fail.hpp"
#include "graph/check_sizes.hpp"
#include "graph/op_table.hpp"
#include "program/memory_plan.hpp"
#include "program/program_impl.hpp"
#include "program/trials.hpp"
#include "program/tune.hpp"

namespace fuseline {

std::string_view Step::name() const {
  return kernel ? std::string_view(kernel->lowered.kernel.name) : call_name;
}

namespace {

constexpr std::int64_t index32_limit = std::int64_t{1} << 31;
// Kernels that touch less are bound by their launch, whatever its shape.
constexpr std::int64_t least_measured_bytes = std::int64_t{1} << 20;

class InstanceMaker {
 public:
  InstanceMaker(Program::Impl& program, const TensorMap& inputs, bool outputs_aligned)
      : program_(program), inputs_(inputs), outputs_aligned_(outputs_aligned) {
    instance_ = std::make_shared<Instance>();
  }

  std::shared_ptr<const Instance> run() {
    instance_->sizes = bind_sizes(program_.graph, inputs_);
    check_sizes(program_.graph, instance_->sizes);
    for (const NamedValue& output : program_.graph.outputs())
      instance_->output_shapes.push_back(
          shape_of(program_.graph.type(output.value).dims, instance_->sizes));
    for (const Task& task : program_.tasks) {
      if (task.call &&
          info(program_.graph.node_of(task.call->operation).op).group == OpGroup::kernel)
        add_built(*task.call);
      else if (task.call)
        add_call(task);
      else
        add_kernel(*task.kernels);
    }
    place_in_arena();
    return instance_;
  }

 private:
  struct Need {
    BufferNeed need;
    std::vector<std::pair<std::size_t, std::size_t>> users;  // step, argument
  };

  // The innermost axes without gaps. Axes of one element say nothing.
  Placement placement_of(const RegionSource& source) {
    auto rank = static_cast<int>(source.dims.size());
    const Tensor* tensor = input_of(source.value);
    if (!tensor) return {rank};
    std::int64_t step = 1;
    int tail = 0;
    for (int axis = rank; axis-- > 0; ++tail) {
      auto k = static_cast<std::size_t>(axis);
      if (tensor->shape()[k] != 1 && tensor->strides()[k] != step) break;
      step *= tensor->shape()[k];
    }
    return {tail};
  }

  const Tensor* input_of(ValueId value) const {
    const Node& node = program_.graph.node_of(value);
    return node.op == OpCode::input ? &tensor_of(inputs_, node.attributes.text("name")) : nullptr;
  }

  void bind_strides(const RegionSource& source, DimBindings& sizes) const {
    Shape shape = shape_of(source.dims, sizes);
    const Tensor* tensor = input_of(source.value);
    Shape strides = tensor ? tensor->strides() : dense_strides(shape);
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
      sizes[stride_symbol(source.value, axis)] = strides[axis];
  }

  // Offsets of sources and outputs, and the count of elements with what a chunk may overshoot.
  bool fits_index32(const Region& region, const DimBindings& sizes) const {
    constexpr std::int64_t margin = std::int64_t{1} << 20;
    for (const RegionSource& source : region.sources) {
      Shape shape = shape_of(source.dims, sizes);
      std::int64_t reach = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        std::int64_t stride = sizes.at(stride_symbol(source.value, axis));
        reach += std::max<std::int64_t>(shape[axis] - 1, 0) * std::abs(stride);
      }
      if (reach >= index32_limit - margin) return false;
    }
    std::int64_t count = element_count(shape_of(region.space, sizes));
    for (const Dim& dim : region.space)  // coordinates too, also of an empty space
      if (dim.evaluate(sizes) >= index32_limit - margin) return false;
    return count * region.unroll < index32_limit - margin;
  }

  // Whether every access of N lanes starts at a multiple of 16 bytes; CPUs do not ask.
  bool is_aligned(const Region& region, const PlanGuards& guards, const DimBindings& sizes) const {
    const Target& target = program_.device.target();
    if (target.kind != DeviceKind::cuda) return false;
    KernelPlan plan = make_plan(region, guards, target);
    auto steps_aligned = [&](const Access& access, std::int64_t width) {
      if (access.constant.evaluate(sizes) * width % 16 != 0 && access.channel < 0) return false;
      if (access.channel >= 0 &&
          (access.constant - Dim(access.channel)).evaluate(sizes) * width % 16 != 0)
        return false;
      for (std::size_t axis = 0; axis < access.coefficients.size(); ++axis)
        if (static_cast<int>(axis) != plan.vector_axis() &&
            access.coefficients[axis].evaluate(sizes) * width % 16 != 0)
          return false;
      return true;
    };
    bool aligned = outputs_aligned_;
    for (const auto& [id, access] : plan.reads) {
      const RegionSource& source = region.sources[static_cast<std::size_t>(region.dag[id].index)];
      const Tensor* tensor = input_of(source.value);
      if (tensor && tensor->device().kind == DeviceKind::cuda)
        aligned = aligned && reinterpret_cast<std::uintptr_t>(tensor->data()) % 16 == 0;
      if (tensor && reach_of(*tensor).low % 16 != 0) aligned = false;
      aligned = aligned && steps_aligned(access, static_cast<std::int64_t>(size_of(source.dtype)));
    }
    for (std::size_t i = 0; i < plan.points.size(); ++i)
      aligned =
          aligned &&
          steps_aligned(plan.points[i], static_cast<std::int64_t>(size_of(region.points[i].dtype)));
    return aligned;
  }

  void add_kernel(RegionKernels& kernels) {
    const Region& region = kernels.region();
    DimBindings sizes = instance_->sizes;
    PlanGuards guards;
    for (const RegionSource& source : region.sources) {
      guards.sources.push_back(placement_of(source));
      bind_strides(source, sizes);
    }
    guards.index32 = fits_index32(region, sizes);
    guards.aligned = is_aligned(region, guards, sizes);
    Step step;
    step.kernel = kernels.get(guards);
    step.shape = choose(*step.kernel, region, sizes);
    step.blocks = launch_blocks(step.kernel->plan, step.shape, sizes);
    bool empty = element_count(shape_of(region.space, sizes)) == 0;
    if (empty && region.reductions.empty()) step.blocks = 0;
    step.params = params_of(*step.kernel, region, sizes);
    if (program_.choices.on_kernel)
      program_.choices.on_kernel(step.kernel, region, sizes, step.shape);
    instance_->steps.push_back(std::move(step));
    set_places(region);
  }

  LaunchShape choose(const Kernel& kernel, const Region& region, const DimBindings& sizes) const {
    std::vector<LaunchShape> shapes = launch_shapes(kernel.plan, sizes);
    if (shapes.size() == 1) return shapes[0];
    if (program_.choices.shape)
      return shapes.at(program_.choices.shape(kernel.lowered.kernel.name, shapes));
    Trials all;
    all.buffers = trial_buffers(program_, kernel, region, sizes, inputs_, shapes);
    if (all.bytes() < least_measured_bytes) return shapes[0];
    all.trials = shape_trials(kernel, region, sizes, shapes);
    // Sizes of one power of two share the answer.
    std::string question =
        fmt::format("size class {}\n{}", std::bit_width(static_cast<std::uint64_t>(all.bytes())),
                    loop::to_text(kernel.lowered.kernel));
    return shapes[choose_shape(program_.device, question, all)];
  }

  void set_places(const Region& region) {
    std::size_t at = instance_->steps.size() - 1;
    Step& step = instance_->steps[at];
    for (const BufferArgument& argument : step.kernel->lowered.buffers) {
      using Kind = BufferArgument::Kind;
      auto index = static_cast<std::size_t>(argument.index);
      Place place;
      switch (argument.kind) {
        case Kind::source:
          place = place_of(region.sources[index].value, at, step.places.size(), true);
          break;
        case Kind::point:
          place = place_of(region.points[index].value, at, step.places.size(), false);
          break;
        case Kind::result:
          place = place_of(region.results[index].value, at, step.places.size(), false);
          break;
        case Kind::ticket:
          place = {Place::Kind::ticket, tickets_++, 0,
                   static_cast<std::int64_t>(size_of(argument.dtype))};
          break;
        case Kind::partial:
        case Kind::partial_index: {
          auto width = static_cast<std::int64_t>(size_of(argument.dtype));
          needs_.push_back({{step.blocks * width, static_cast<int>(at), static_cast<int>(at)},
                            {{at, step.places.size()}}});
          break;
        }
      }
      step.places.push_back(place);
    }
  }

  Shape shape_of_value(ValueId value) const {
    return shape_of(program_.graph.type(value).dims, instance_->sizes);
  }

  CallOperand operand_of(ValueId value) const {
    CallOperand operand{program_.graph.type(value).dtype, shape_of_value(value), {}};
    const Tensor* tensor = input_of(value);
    operand.strides = tensor ? tensor->strides() : dense_strides(operand.shape);
    if (auto constant = program_.constant_of.find(value); constant != program_.constant_of.end())
      operand.constant = program_.graph.node_of(value).attributes.tensor("value").data();
    return operand;
  }

  CallRequest request_of(const Call& call) const {
    const Node& n = program_.graph.node_of(call.operation);
    CallRequest request{.op = n.op, .epilogue = call.epilogue};
    for (ValueId value : call.operands) request.operands.push_back(operand_of(value));
    request.result = operand_of(call.output);
    if (n.op == OpCode::matmul) return request;
    request.strides = n.attributes.integers("strides");
    request.dilations = n.attributes.integers("dilations");
    request.before = shape_of(n.attributes.dims("before"), instance_->sizes);
    request.groups = n.attributes.integer("groups");
    request.x_block = n.attributes.integer_or("x_block", 0);
    request.y_block = n.attributes.integer_or("y_block", 0);
    return request;
  }

  void add_call(const Task& task) {
    const Call& call = *task.call;
    std::size_t at = instance_->steps.size();
    if (element_count(shape_of_value(call.output)) == 0) return;
    CallRequest request = request_of(call);
    Step step;
    step.call_name = task.name;
    step.call = program_.device.prepare(request);
    instance_->steps.push_back(step);
    for (ValueId value : call.operands) {
      Place place = place_of(value, at, instance_->steps[at].places.size(), true);
      instance_->steps[at].places.push_back(place);
    }
    Place place = place_of(call.output, at, call.operands.size(), false);
    instance_->steps[at].places.push_back(place);
    needs_.push_back({{step.call->scratch_bytes, static_cast<int>(at), static_cast<int>(at)},
                      {{at, call.operands.size() + 1}}});
    instance_->steps[at].places.emplace_back();
  }

  // The kernels of one operation, one after the other.
  void add_built(const Call& call) {
    const Node& n = program_.graph.node_of(call.operation);
    kernels::Request request{n.op, n.attributes, {}, built_operand(call.output)};
    for (ValueId value : call.operands) request.operands.push_back(built_operand(value));
    kernels::Schedule schedule = kernels::make_schedule(request, program_.device.target());
    auto first = static_cast<int>(instance_->steps.size());
    int last = first + static_cast<int>(schedule.launches.size()) - 1;
    std::size_t scratch = needs_.size();
    for (std::int64_t bytes : schedule.scratch_bytes) needs_.push_back({{bytes, first, last}, {}});
    for (kernels::Launch& launch : schedule.launches) {
      Step step;
      step.kernel = program_.built.get(*launch.kernel);
      step.blocks = launch.blocks;
      step.shape.threads = launch.kernel->threads;
      step.params = std::move(launch.params);
      std::size_t at = instance_->steps.size();
      instance_->steps.push_back(std::move(step));
      for (kernels::Argument argument : launch.arguments)
        instance_->steps[at].places.push_back(
            built_place(call, argument, at, instance_->steps[at].places.size(), scratch));
    }
  }

  kernels::Operand built_operand(ValueId value) const {
    CallOperand operand = operand_of(value);
    return {operand.dtype, operand.shape, operand.strides};
  }

  Place built_place(const Call& call, kernels::Argument from, std::size_t step,
                    std::size_t argument, std::size_t scratch) {
    using Kind = kernels::Argument::Kind;
    if (from.kind == Kind::operand)
      return place_of(call.operands[from.index], step, argument, true);
    if (from.kind == Kind::result) return place_of(call.output, step, argument, false);
    needs_[scratch + from.index].users.emplace_back(step, argument);
    return {};
  }

  Place place_of(ValueId value, std::size_t step, std::size_t argument, bool reads) {
    const auto& inputs = program_.graph.inputs();
    const auto& outputs = program_.graph.outputs();
    auto is_value = [&](const NamedValue& v) { return v.value == value; };
    bool written = std::any_of(outputs.begin(), outputs.end(), is_value);
    auto input = std::find_if(inputs.begin(), inputs.end(), is_value);
    if (input != inputs.end() && reads)
      return {Place::Kind::input, static_cast<std::size_t>(input - inputs.begin()), 0};
    if (auto constant = program_.constant_of.find(value);
        constant != program_.constant_of.end() && reads) {
      const Tensor& tensor = program_.graph.node_of(value).attributes.tensor("value");
      return {Place::Kind::constant, constant->second, 0,
              std::max<std::int64_t>(tensor.bytes(), 1)};
    }
    if (written) {
      auto output = std::find_if(outputs.begin(), outputs.end(), is_value);
      return {Place::Kind::output, static_cast<std::size_t>(output - outputs.begin()), 0};
    }
    auto [known, added] = stored_.try_emplace(value, needs_.size());
    if (added) {
      const ValueType& type = program_.graph.type(value);
      std::int64_t bytes = element_count(shape_of(type.dims, instance_->sizes)) *
                           static_cast<std::int64_t>(size_of(type.dtype));
      needs_.push_back({{bytes, static_cast<int>(step), static_cast<int>(step)}, {}});
    }
    Need& need = needs_[known->second];
    need.need.last_step = static_cast<int>(step);
    need.users.emplace_back(step, argument);
    return {};
  }

  void place_in_arena() {
    std::vector<BufferNeed> needs;
    for (const Need& need : needs_) needs.push_back(need.need);
    MemoryPlan plan = plan_memory(needs);
    for (std::size_t i = 0; i < needs_.size(); ++i)
      for (auto [step, argument] : needs_[i].users)
        instance_->steps[step].places[argument] = {Place::Kind::arena, 0, plan.offsets[i],
                                                   needs[i].bytes};
    instance_->arena_bytes = plan.total;
    instance_->live_bound = plan.live_bound;
  }

  Program::Impl& program_;
  const TensorMap& inputs_;
  bool outputs_aligned_;
  std::shared_ptr<Instance> instance_;
  std::vector<Need> needs_;
  std::map<ValueId, std::size_t> stored_;
  std::size_t tickets_ = 0;
};

}  // namespace

std::shared_ptr<const Instance> make_instance(Program::Impl& program, const TensorMap& inputs,
                                              bool outputs_aligned) {
  return InstanceMaker(program, inputs, outputs_aligned).run();
}

}  // namespace fuseline
