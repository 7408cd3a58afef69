// `run MODEL` taken apart: runs of the loaded model.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/fail.hpp"
#include "cli/diagnose_mask.hpp"
#include "cli/diagnose_subject.hpp"
#include "cli/model_inputs.hpp"
#include "graph/check_sizes.hpp"

namespace fuseline::cli {
namespace {

constexpr std::int64_t divisors[] = {4, 2, 1};
constexpr std::int64_t least_extent = 8;  // of a size that is made smaller

// The corner of a tensor as a dense one.
Tensor corner(const Tensor& tensor, const Shape& shape) {
  Tensor small = Tensor::allocate(tensor.dtype(), shape);
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  auto* to = small.as<char>();
  Shape at(shape.size(), 0);
  for (std::int64_t n = 0; n < small.size(); ++n, to += width) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      offset += at[axis] * tensor.strides()[axis];
    std::memcpy(to, tensor.as<const char>() + offset * width, static_cast<std::size_t>(width));
    for (std::size_t axis = at.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
  return small;
}

class ModelRuns final : public Subject {
 public:
  ModelRuns(ModelOptions command, bool writes)
      : command_(std::move(command)),
        writes_(writes),
        options_(command_.compile_options()),
        model_(ModelFile::open(command_.model, options_)) {
    command_.apply_threads();
    tensors_.inputs = read_inputs(model_, command_).tensors;
    graphs_.push_back(model_.need_onnx("diagnose").graph_for(tensors_.inputs));
    DimBindings sizes = bind_sizes(graphs_[0], tensors_.inputs);
    for (const NamedValue& output : graphs_[0].outputs()) {
      const ValueType& type = graphs_[0].type(output.value);
      Shape shape = shape_of(type.dims, sizes);
      tensors_.outputs.emplace_back(output.name, Tensor::allocate(type.dtype, shape));
      tensors_.nowhere.emplace_back(output.name, Tensor::allocate(type.dtype, shape));
    }
  }

  std::string object() const override { return "runs of the loaded model, on the given inputs"; }
  std::string frame() const override { return "run"; }
  std::size_t items() const override { return 1; }
  int workers() const override { return 1; }
  const std::vector<Graph>& graphs() const override { return graphs_; }
  const CompileOptions& options() const override { return options_; }
  const FrameTensors& read(std::size_t, int) override { return tensors_; }
  void write(std::size_t, int) override {}

  Sweep measure_sizes(BenchRunner& runner, const BenchPlan& plan) override {
    std::vector<SizePoint> points;
    std::vector<std::vector<std::string>> words;
    for (std::int64_t divisor : divisors) {
      NamedArrays inputs = inputs_at(divisor);
      SizePoint point;
      for (const auto& [name, tensor] : inputs) {
        point.amount += static_cast<double>(tensor.size()) / 1e6;
        point.label += (point.label.empty() ? "" : " ") + to_string(tensor.shape());
      }
      auto file = folder_ / fmt::format("{}.npz", divisor);
      write_npz(file, inputs);
      points.push_back(std::move(point));
      words.push_back(words_with({"--input", file.string()}));
    }
    if (points[0].amount == points.back().amount)
      fail("no input has a symbolic size of at least {}, so the model takes one size only",
           least_extent);
    Sweep sweep = measure_points(std::move(points), words, runner, plan);
    sweep.how = "the corners of the inputs along their symbolic sizes";
    sweep.unit = "million element";
    return sweep;
  }

  std::vector<std::string> on_threads(int threads) override {
    std::vector<std::string> words = words_with({"--threads", std::to_string(threads)});
    for (const std::string& input : command_.inputs) {
      words.emplace_back("--input");
      words.push_back(input);
    }
    return words;
  }

 private:
  // The given inputs; symbolic sizes of some length are divided.
  NamedArrays inputs_at(std::int64_t divisor) const {
    NamedArrays all;
    for (const auto& [name, tensor] : tensors_.inputs) {
      auto declared = std::find_if(model_.inputs().begin(), model_.inputs().end(),
                                   [&](const OnnxValue& v) { return v.graph_name == name; });
      if (declared == model_.inputs().end() || declared->has_default) continue;
      Shape shape = tensor.shape();
      for (std::size_t axis = 0; axis < std::min(shape.size(), declared->dims.size()); ++axis)
        if (!declared->dims[axis].is_constant() && shape[axis] >= least_extent)
          shape[axis] /= divisor;
      all.emplace_back(declared->name, corner(tensor, shape));
    }
    return all;
  }

  std::vector<std::string> words_with(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run",           command_.model, "--device",
                                      command_.device, "--fusion",     command_.fusion};
    words.insert(words.end(), {"--precision", command_.precision});
    for (const std::string& name : command_.keep_fp32)
      words.insert(words.end(), {"--keep-fp32", name});
    bool other_threads = !more.empty() && more.front() == "--threads";
    if (!command_.threads.empty() && !other_threads)
      words.insert(words.end(), {"--threads", command_.threads});
    if (writes_) words.insert(words.end(), {"-o", (folder_ / "out.npz").string()});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  ModelOptions command_;
  bool writes_;
  CompileOptions options_;
  ModelFile model_;
  std::vector<Graph> graphs_;
  FrameTensors tensors_;
  ScratchFolder folder_;
};

}  // namespace

std::unique_ptr<Subject> model_subject(const std::vector<std::string>& words) {
  ModelOptions command;
  std::string output;
  bool json = false;
  CLI::App app;
  command.add_to(app);
  app.add_option("-o,--output", output);
  app.add_flag("--json", json);
  parse_words(app, words);
  return std::make_unique<ModelRuns>(command, !output.empty());
}

}  // namespace fuseline::cli
