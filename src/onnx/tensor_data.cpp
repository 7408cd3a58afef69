// Tensors of a model file: raw bytes, numbers one by one, external files.
#include "onnx/tensor_data.hpp"

#include <charconv>
#include <cstring>

#include "base/fail.hpp"
#include "graph/scalar.hpp"
#include "onnx/element_type.hpp"

namespace fuseline::onnx {
namespace {

std::string label(const TensorProto& proto) {
  return proto.name.empty() ? "tensor" : fmt::format("tensor {}", proto.name);
}

Shape shape_of(const TensorProto& proto, DType dtype) {
  for (std::int64_t extent : proto.dims)
    if (extent < 0)
      fail("{}: its shape {} has a negative size", label(proto), to_string(Shape(proto.dims)));
  std::int64_t count = 0;
  try {
    count = element_count(proto.dims);
  } catch (const Error& error) {
    fail("{}: {}", label(proto), error.what());
  }
  if (count > (std::int64_t{1} << 58))
    fail("{}: {}{} is larger than any file", label(proto), name_of(dtype), to_string(proto.dims));
  return proto.dims;
}

std::uint64_t number_entry(const TensorProto& proto, std::string_view key) {
  auto found = proto.external_data.find(key);
  if (found == proto.external_data.end()) return 0;
  std::uint64_t value = 0;
  std::string_view text = found->second;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail("{}: external data: {} \"{}\" is no number", label(proto), key, text);
  return value;
}

}  // namespace

Tensor TensorReader::read(const TensorProto& proto) {
  DType dtype;
  try {
    dtype = held_as(proto.data_type);
  } catch (const Error& error) {
    fail("{}: {}", label(proto), error.what());
  }
  Shape shape = shape_of(proto, dtype);
  if (proto.external) return external(proto, dtype, shape);
  if (proto.raw_data) return of_bytes(proto, dtype, shape, *proto.raw_data, owner_);
  return of_numbers(proto, dtype, shape);
}

// A view where the bytes are aligned for their type or too many to copy (who computes with them
// looks at their address), else a copy.
Tensor TensorReader::of_bytes(const TensorProto& proto, DType dtype, const Shape& shape,
                              std::string_view bytes,
                              const std::shared_ptr<const void>& owner) const {
  auto wanted = static_cast<std::uint64_t>(element_count(shape)) * size_of(dtype);
  if (bytes.size() != wanted)
    fail("{}: {} bytes of data, {}{} needs {}", label(proto), bytes.size(), name_of(dtype),
         to_string(shape), wanted);
  bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % size_of(dtype) == 0;
  constexpr std::size_t worth_sharing = 4096, too_many_to_copy = 65536;
  if (owner && bytes.size() >= (aligned ? worth_sharing : too_many_to_copy))
    return Tensor::shared(owner, const_cast<char*>(bytes.data()), dtype, shape);
  Tensor tensor = Tensor::allocate(dtype, shape);
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  if (is_bool(dtype))  // a byte other than 0 and 1 would be an invalid bool
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.as<std::uint8_t>()[i] = tensor.as<std::uint8_t>()[i] != 0;
  return tensor;
}

Tensor TensorReader::of_numbers(const TensorProto& proto, DType dtype, const Shape& shape) const {
  auto count = static_cast<std::size_t>(element_count(shape));
  std::size_t given = dtype == DType::f32   ? proto.floats.size()
                      : dtype == DType::f64 ? proto.doubles.size()
                                            : proto.integers.size();
  if (given != count)
    fail("{}: {} elements of data, {}{} has {}", label(proto), given, name_of(dtype),
         to_string(shape), count);
  Tensor tensor = Tensor::allocate(dtype, shape);
  std::size_t width = size_of(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    char* to = tensor.as<char>() + i * width;
    if (dtype == DType::f32) {
      std::memcpy(to, &proto.floats[i], width);
    } else if (dtype == DType::f64) {
      std::memcpy(to, &proto.doubles[i], width);
    } else {  // little endian; halves are stored as their bits
      std::int64_t bits = is_bool(dtype) ? proto.integers[i] != 0 : proto.integers[i];
      std::memcpy(to, &bits, width);
    }
  }
  return tensor;
}

const MappedFile& TensorReader::file(const std::string& location, std::string_view tensor) {
  if (auto known = files_.find(location); known != files_.end()) return known->second;
  namespace fs = std::filesystem;
  if (folder_.empty())
    fail("tensor {}: its data is in the file \"{}\", but the model was given as bytes", tensor,
         location);
  fs::path relative(location);
  bool inside = !location.empty() && relative.is_relative();
  for (const fs::path& part : relative) inside = inside && part != "..";
  std::error_code error;
  fs::path folder = fs::canonical(folder_, error);
  fs::path path = error ? folder_ / relative : fs::weakly_canonical(folder / relative, error);
  // Links are followed before the check, so that none leads outside.
  if (inside && !error) {
    fs::path from_folder = path.lexically_relative(folder);
    inside = !from_folder.empty() && *from_folder.begin() != "..";
  }
  if (!inside)
    fail("tensor {}: its data \"{}\" would lie outside the model's folder", tensor, location);
  return files_[location] = map_file(path);
}

Tensor TensorReader::external(const TensorProto& proto, DType dtype, const Shape& shape) {
  auto location = proto.external_data.find("location");
  if (location == proto.external_data.end())
    fail("{}: its external data has no location", label(proto));
  const MappedFile& from = file(std::string(location->second), proto.name);
  std::uint64_t offset = number_entry(proto, "offset");
  std::uint64_t length = number_entry(proto, "length");
  auto wanted = static_cast<std::uint64_t>(element_count(shape)) * size_of(dtype);
  if (!proto.external_data.contains("length")) length = wanted;
  if (offset > from.bytes.size() || length > from.bytes.size() - offset)
    fail("{}: bytes {} to {} of {}, which has {}", label(proto), offset, offset + length,
         location->second, from.bytes.size());
  std::string_view bytes =
      from.bytes.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  return of_bytes(proto, dtype, shape, bytes, from.owner);
}

}  // namespace fuseline::onnx
