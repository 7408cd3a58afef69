// Model files, written field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace fuseline::testing {

// A message of Protocol Buffers under construction.
class Message {
 public:
  Message& integer(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(int field, float value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 5);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Message& bytes(int field, const std::string& value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.bytes_); }
  const std::string& str() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

constexpr int float_type = 1, integer_type = 7;

// Sizes below 0 stand for the symbol "n".
inline Message value_info(const std::string& name, int type,
                          const std::vector<std::int64_t>& dims) {
  Message shape, tensor;
  for (std::int64_t dim : dims)
    shape.message(1, dim < 0 ? Message().bytes(2, "n") : Message().integer(1, dim));
  tensor.integer(1, type).message(2, shape);
  return Message().bytes(1, name).message(2, Message().message(1, tensor));
}

inline Message attribute(const std::string& name, std::int64_t value) {
  return Message().bytes(1, name).integer(3, value).integer(20, 2);
}
inline Message attribute(const std::string& name, const std::string& value) {
  return Message().bytes(1, name).bytes(4, value).integer(20, 3);
}

inline Message node(const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs,
                    const std::vector<Message>& attributes = {}, const std::string& domain = "") {
  Message m;
  for (const std::string& name : inputs) m.bytes(1, name);
  for (const std::string& name : outputs) m.bytes(2, name);
  m.bytes(3, "the_" + op).bytes(4, op);
  for (const Message& a : attributes) m.message(5, a);
  if (!domain.empty()) m.bytes(7, domain);
  return m;
}

inline Message integers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string raw(values.size() * 8, '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  Message m;
  m.integer(1, static_cast<std::int64_t>(values.size())).integer(2, integer_type);
  return m.bytes(8, name).bytes(9, raw);
}

inline Message floats(const std::string& name, const std::vector<float>& values) {
  std::string raw(values.size() * 4, '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  Message m;
  m.integer(1, static_cast<std::int64_t>(values.size())).integer(2, float_type);
  return m.bytes(8, name).bytes(9, raw);
}

// What a graph is made of.
struct Parts {
  std::vector<Message> nodes, initializers, inputs, outputs, functions;
  std::int64_t opset = 17;

  std::string model() const {
    Message graph;
    for (const Message& m : nodes) graph.message(1, m);
    graph.bytes(2, "g");
    for (const Message& m : initializers) graph.message(5, m);
    for (const Message& m : inputs) graph.message(11, m);
    for (const Message& m : outputs) graph.message(12, m);
    Message model;
    model.integer(1, 8).message(7, graph).message(8, Message().bytes(1, "").integer(2, opset));
    for (const Message& f : functions) model.message(25, f);
    return model.str();
  }
};

}  // namespace fuseline::testing
