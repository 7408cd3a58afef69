// A model's steps, memory and costs at given sizes.
#include "cli/explain_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/exit_code.hpp"
#include "cli/kernel_text.hpp"
#include "cli/model_cost.hpp"
#include "cli/terminal.hpp"
#include "graph/check_sizes.hpp"

namespace fuseline::cli {
namespace {

struct Explained {
  std::vector<KernelReport> steps;
  std::int64_t calls = 0;
  TensorMap inputs;
  std::string sizes;    // of the inputs, one line
  std::string refusal;  // not empty: the model does not run at these sizes, and why
  MemoryUse memory;
  double operations = 0;
};

std::string sizes_text(const ModelFile& model, const TensorMap& inputs) {
  std::string text;
  for (const OnnxValue& input : model.inputs()) {
    if (input.has_default) continue;
    const Tensor& tensor = tensor_of(inputs, input.graph_name);
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", input.name, name_of(tensor.dtype()),
                        to_string(tensor.shape()));
  }
  return text;
}

Explained explain(const ModelFile& model, const Program& program, TensorMap inputs) {
  Explained e;
  e.inputs = std::move(inputs);
  e.steps = program.report();
  e.calls = std::count_if(e.steps.begin(), e.steps.end(),
                          [](const KernelReport& step) { return step.is_call; });
  e.sizes = sizes_text(model, e.inputs);
  try {
    e.memory = program.memory(e.inputs);
    e.operations = static_cast<double>(
        cost_of(program.graph()).operations.evaluate(bind_sizes(program.graph(), e.inputs)));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) throw;
    e.refusal = error.what();
  }
  return e;
}

double memory_ratio(const MemoryUse& memory) {
  return memory.live_bound == 0
             ? 1
             : static_cast<double>(memory.arena) / static_cast<double>(memory.live_bound);
}

Json as_json(const ModelFile& model, const Program& program, const Explained& e, bool kernels) {
  Json steps = Json::array(), sizes = Json::object();
  for (const KernelReport& step : e.steps) steps.push_back(step_json(step, kernels));
  for (const OnnxValue& input : model.inputs())
    if (!input.has_default) sizes[input.name] = tensor_of(e.inputs, input.graph_name).shape();
  Json json = {{"device", program.device()},
               {"library_calls", e.calls},
               {"regions", static_cast<std::int64_t>(e.steps.size()) - e.calls},
               {"sizes", sizes}};
  if (e.refusal.empty()) {
    json["memory"] = {{"arena_bytes", e.memory.arena},
                      {"live_set_bound_bytes", e.memory.live_bound},
                      {"constant_bytes", e.memory.constants}};
    json["contraction_flop"] = e.operations;
  } else {
    json["problem"] = e.refusal;
  }
  json["steps"] = std::move(steps);
  return json;
}

void print_summary(const std::string& name, const Program& program, const Explained& e) {
  auto row = [](std::string_view title, const std::string& text) {
    print_line(stdout, fmt::format("{:<14}{}", title, text));
  };
  row("model", fmt::format("{} on {}", name, program.device()));
  row("steps", fmt::format("{} library calls, {} Regions with a kernel each", e.calls,
                           static_cast<std::int64_t>(e.steps.size()) - e.calls));
  row("sizes", e.sizes.empty() ? "no inputs" : e.sizes);
  if (!e.refusal.empty()) {
    row("memory", "not planned: " + e.refusal);
    return;
  }
  row("memory", fmt::format("arena {}, {:.2f} x the live-set bound {}; constants {}",
                            bytes_text(e.memory.arena), memory_ratio(e.memory),
                            bytes_text(e.memory.live_bound), bytes_text(e.memory.constants)));
  row("contractions", flop_text(e.operations) + " a run");
}

}  // namespace

int explain_model(const ModelOptions& options, bool kernels, bool json) {
  options.apply_threads();
  ModelFile model = ModelFile::open(options.model, options.compile_options());
  ModelInputs given = read_inputs(model, options);
  TensorMap inputs = random_inputs(model, given.tensors, read_sizes(model, options.sizes), 1);
  Program program = model.program(inputs);
  Explained e = explain(model, program, std::move(inputs));
  if (json) {
    print_json(as_json(model, program, e, kernels));
    return exit_fine;
  }
  print_summary(options.model, program, e);
  for (const KernelReport& step : e.steps) print_step(step, kernels);
  return exit_fine;
}

}  // namespace fuseline::cli
