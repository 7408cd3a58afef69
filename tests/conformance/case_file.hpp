// The cases that make_cases.py wrote.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnx/element_type.hpp"

namespace fuseline::testing {

struct Case {
  struct Set {
    std::vector<std::string> inputs, outputs;  // TensorProtos
  };
  std::string name, operator_name, model;
  double rtol = 0, atol = 0;
  std::vector<Set> sets;
};

class CaseReader {
 public:
  explicit CaseReader(const std::filesystem::path& path) : in_(path, std::ios::binary) {}
  bool at_end() { return in_.peek() == std::ifstream::traits_type::eof(); }
  template <class T>
  T number() {
    T value{};
    if (!in_.read(reinterpret_cast<char*>(&value), sizeof value))
      throw std::runtime_error("the file of cases ends too early");
    return value;
  }
  std::string block() {
    std::string bytes(number<std::uint32_t>(), '\0');
    if (!in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      throw std::runtime_error("the file of cases ends too early");
    return bytes;
  }
  std::vector<std::string> blocks() {
    std::vector<std::string> list(number<std::uint32_t>());
    for (std::string& bytes : list) bytes = block();
    return list;
  }

 private:
  std::ifstream in_;
};

inline std::vector<Case> read_cases(const std::filesystem::path& path) {
  CaseReader in(path);
  std::vector<Case> cases;
  while (!in.at_end()) {
    Case c{in.block(), in.block(), in.block()};
    c.rtol = in.number<double>();
    c.atol = in.number<double>();
    c.sets.resize(in.number<std::uint32_t>());
    for (Case::Set& set : c.sets) {
      set.inputs = in.blocks();
      set.outputs = in.blocks();
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

// The number that an 8-bit float encodes, from its definition.
inline double float8_value(int type, int byte) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (type == onnx::float8e8m0) return byte == 255 ? nan : std::ldexp(1.0, byte - 127);
  bool e5 = type == onnx::float8e5m2 || type == onnx::float8e5m2fnuz;
  bool unsigned_zero = type == onnx::float8e4m3fnuz || type == onnx::float8e5m2fnuz;
  int bits = e5 ? 2 : 3, bias = (e5 ? 15 : 7) + unsigned_zero;
  int code = byte & 127, exponent = code >> bits, fraction = code & ((1 << bits) - 1);
  double sign = byte & 128 ? -1 : 1;
  if (unsigned_zero && byte == 128) return nan;
  if (!unsigned_zero && !e5 && code == 127) return nan;
  if (!unsigned_zero && e5 && exponent == 31)
    return fraction ? nan : sign * std::numeric_limits<double>::infinity();
  double unit = std::ldexp(1.0, -bits);
  return sign * (exponent ? std::ldexp(1 + fraction * unit, exponent - bias)
                          : std::ldexp(fraction * unit, 1 - bias));
}

}  // namespace fuseline::testing
