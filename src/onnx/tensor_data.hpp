// Tensors of a model file.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/mapped_file.hpp"
#include "fuseline/tensor.hpp"
#include "onnx/proto.hpp"

namespace fuseline::onnx {

// Makes Tensors of TensorProtos. Raw data stays where it is in the mapped file; the Tensor keeps
// the mapping alive. External data is looked for in the model's folder and nowhere else.
class TensorReader {
 public:
  // `folder` is empty for a model that came as bytes: it has no external data then.
  TensorReader(std::shared_ptr<const void> owner, std::filesystem::path folder)
      : owner_(std::move(owner)), folder_(std::move(folder)) {}

  Tensor read(const TensorProto& proto);

 private:
  Tensor of_bytes(const TensorProto& proto, DType dtype, const Shape& shape, std::string_view bytes,
                  const std::shared_ptr<const void>& owner) const;
  Tensor external(const TensorProto& proto, DType dtype, const Shape& shape);
  Tensor of_numbers(const TensorProto& proto, DType dtype, const Shape& shape) const;
  const MappedFile& file(const std::string& location, std::string_view tensor);

  std::shared_ptr<const void> owner_;
  std::filesystem::path folder_;
  std::map<std::string, MappedFile> files_;
};

}  // namespace fuseline::onnx
