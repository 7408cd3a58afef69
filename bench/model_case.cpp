// An ONNX model with one input and one output, as a Program.
#include "base/fail.hpp"
#include "bench_case.hpp"
#include "fuseline/onnx.hpp"
#include "fuseline/program.hpp"

namespace fuseline::bench {
namespace {

Shape parse_shape(const std::string& text) {
  Shape shape;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = std::min(text.find('x', at), text.size());
    shape.push_back(parse_integer(text.substr(at, end - at), "size"));
    at = end + 1;
  }
  return shape;
}

std::size_t bytes_of(const Shape& shape) {
  return static_cast<std::size_t>(element_count(shape)) * sizeof(float);
}

class ModelCase final : public BenchCase {
 public:
  ModelCase(const std::string& path, const std::string& file, const Shape& shape)
      : x_(bytes_of(shape)), model_(OnnxModel::open(path)) {
    if (model_.inputs().size() != 1 || model_.outputs().size() != 1)
      fail("{}: a model with one input and one output is expected", path);
    x_.read(file);
    inputs_ = {{model_.inputs()[0].graph_name, Tensor(x_.data(), DType::f32, shape)}};
    program_.emplace(compile(model_.graph_for(inputs_), {.device = "cpu"}));
    Shape result = program_->output_shapes(inputs_)[0];
    y_.emplace(bytes_of(result));
    outputs_ = {{model_.outputs()[0].second, Tensor(y_->data(), DType::f32, result)}};
    lane_.emplace(program_->make_lane());
  }

  void run() override { lane_->run(inputs_, outputs_); }
  void dump(const std::filesystem::path& folder) override { y_->write(folder / "y.raw"); }

 private:
  Buffer x_;
  std::optional<Buffer> y_;
  OnnxModel model_;
  TensorMap inputs_, outputs_;
  std::optional<Program> program_;
  std::optional<Lane> lane_;
};

}  // namespace

std::unique_ptr<BenchCase> make_model_case(const Arguments& arguments) {
  if (arguments.size() != 3) fail("model: MODEL FILE SHAPE are expected");
  return std::make_unique<ModelCase>(arguments[0], arguments[1], parse_shape(arguments[2]));
}

}  // namespace fuseline::bench
