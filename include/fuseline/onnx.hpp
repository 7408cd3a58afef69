// ONNX models: a file becomes a Graph.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuseline/graph.hpp"

namespace fuseline {

// An input of a model as the file declares it.
struct OnnxValue {
  std::string name;        // in the file
  std::string graph_name;  // in the Graph: other characters than a Graph allows become '_'
  std::string type;        // "float32", "float8e5m2", ...
  DType dtype = DType::f32;
  Dims dims;
  bool has_default = false;  // an initializer of the same name
};

// A model that was read and checked for form. Immutable and cheap to copy.
class OnnxModel {
 public:
  // Error when the file is no model. Large weights stay in the mapped file.
  static OnnxModel open(const std::string& path);
  // The same from memory, which is copied; such a model has no external data.
  static OnnxModel from_bytes(std::string_view bytes);

  std::int64_t ir_version() const;
  std::int64_t opset() const;  // of the domain ai.onnx; 0 without one
  std::string producer() const;
  const std::vector<OnnxValue>& inputs() const;
  // Name in the file and name in the Graph.
  std::vector<std::pair<std::string, std::string>> outputs() const;
  // Operators of the main graph with their counts, by name; those of other domains as
  // "domain.Operator".
  std::vector<std::pair<std::string, int>> operators() const;
  // Nodes that cannot be read, one line each: node, operator, what is missing. Empty: all can.
  std::vector<std::string> unsupported() const;

  // The model as a Graph, its symbolic sizes as symbols. ONNX lets small inputs decide shapes. Where
  // their elements are sizes (the target of Reshape, the bounds of Slice), one Graph serves all
  // values. Where they decide more (the axes of a reduction), their values are needed here, by graph
  // name, and the Graph is right for these values only; `decided` receives the names of these
  // inputs. An input that has a default takes it when no value is given. Error, naming the node,
  // the operator and the rule, when something is not supported.
  Graph graph(const std::vector<std::pair<std::string, Tensor>>& values = {},
              std::vector<std::string>* decided = nullptr) const;
  // As graph(); where symbols are not enough (sizes that are equal by luck, loops over a length),
  // the Graph is made for the shapes of these inputs alone.
  Graph graph_for(const std::vector<std::pair<std::string, Tensor>>& inputs,
                  std::vector<std::string>* decided = nullptr) const;
  // Values of the inputs that have one in the file, by graph name.
  std::vector<std::pair<std::string, Tensor>> defaults() const;

  struct Impl;

 private:
  explicit OnnxModel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace fuseline
