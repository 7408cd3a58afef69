// The wire format of Protocol Buffers: fields of a message, read in place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace fuseline::onnx {

// Walks the fields of one message. Nothing is copied: bytes are views of what was given. Every
// length is checked before it is used; an Error names the message.
class WireReader {
 public:
  WireReader(std::string_view bytes, const char* message) : rest_(bytes), message_(message) {}

  // Moves to the next field; false at the end.
  bool next();
  int field() const { return field_; }

  // The field's value; Error when it is stored as another kind.
  std::int64_t integer() const;
  float real() const;
  std::string_view bytes() const;
  // Repeated numbers, packed or one at a time, appended.
  void integers(std::vector<std::int64_t>& to) const;
  void reals(std::vector<float>& to) const;
  void doubles(std::vector<double>& to) const;

 private:
  enum Kind { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

  [[noreturn]] void broken(const char* what) const;
  std::uint64_t take_varint(std::string_view& from) const;
  std::string_view take(std::uint64_t count);

  std::string_view rest_;
  const char* message_;
  int field_ = 0;
  int kind_ = 0;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
};

}  // namespace fuseline::onnx
