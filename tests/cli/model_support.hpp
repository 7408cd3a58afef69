// Small models and arrays for the commands that take models.
#pragma once

#include <cstring>

#include "cli/support.hpp"
#include "fuseline/tensor.hpp"
#include "onnx/model_bytes.hpp"

namespace fuseline::test {

using namespace fuseline::testing;

class ModelTest : public CliTest {
 protected:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // y = x * [1, 2, 3] + bias, over n rows.
  static Parts model() {
    Parts p;
    p.inputs = {value_info("x", float_type, {-1, 3})};
    p.outputs = {value_info("y", float_type, {-1, 3})};
    p.initializers = {floats("w", {1, 2, 3}), floats("bias", {0.5f, 0, 0})};
    p.nodes = {node("Mul", {"x", "w"}, {"scaled"}), node("Add", {"scaled", "bias"}, {"y"})};
    return p;
  }

  // An array as NumPy 1.0 writes it.
  static std::string npy(const std::vector<float>& values, const std::string& shape) {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.append(117 - header.size(), ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
    bytes += header;
    return bytes.append(reinterpret_cast<const char*>(values.data()), 4 * values.size());
  }

  static std::string tensor_pb(const std::vector<float>& values) {
    std::string raw(reinterpret_cast<const char*>(values.data()), 4 * values.size());
    return Message().integer(1, 1).integer(1, 3).integer(2, float_type).bytes(9, raw).str();
  }
};

}  // namespace fuseline::test
