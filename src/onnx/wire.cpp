// The wire format of Protocol Buffers.
#include "onnx/wire.hpp"

#include <cstring>

#include "base/fail.hpp"

namespace fuseline::onnx {

void WireReader::broken(const char* what) const {
  fail("{}: {}; this is no ONNX model, or the file is damaged", message_, what);
}

std::uint64_t WireReader::take_varint(std::string_view& from) const {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (from.empty()) broken("the bytes end inside a number");
    auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  broken("a number has more than 64 bits");
}

std::string_view WireReader::take(std::uint64_t count) {
  if (count > rest_.size()) broken("a field is longer than what is left");
  std::string_view part = rest_.substr(0, static_cast<std::size_t>(count));
  rest_.remove_prefix(static_cast<std::size_t>(count));
  return part;
}

bool WireReader::next() {
  if (rest_.empty()) return false;
  std::uint64_t key = take_varint(rest_);
  if (key >> 3 == 0 || key >> 32 != 0) broken("a field has no valid number");
  field_ = static_cast<int>(key >> 3);
  kind_ = static_cast<int>(key & 7);
  switch (kind_) {
    case varint:
      number_ = take_varint(rest_);
      break;
    case fixed64:
      bytes_ = take(8);
      break;
    case length:
      bytes_ = take(take_varint(rest_));
      break;
    case fixed32:
      bytes_ = take(4);
      break;
    default:
      broken("a field has no valid kind");
  }
  return true;
}

std::int64_t WireReader::integer() const {
  if (kind_ != varint) broken("a whole number is stored as something else");
  return static_cast<std::int64_t>(number_);
}

float WireReader::real() const {
  if (kind_ != fixed32) broken("a number is stored as something else");
  float value;
  std::memcpy(&value, bytes_.data(), sizeof value);
  return value;
}

std::string_view WireReader::bytes() const {
  if (kind_ != length) broken("bytes are stored as something else");
  return bytes_;
}

void WireReader::integers(std::vector<std::int64_t>& to) const {
  if (kind_ == varint) {
    to.push_back(integer());
    return;
  }
  std::string_view packed = bytes();
  while (!packed.empty()) to.push_back(static_cast<std::int64_t>(take_varint(packed)));
}

namespace {

template <class T>
void append(std::string_view packed, std::vector<T>& to) {
  std::size_t before = to.size();
  to.resize(before + packed.size() / sizeof(T));
  if (!packed.empty()) std::memcpy(to.data() + before, packed.data(), packed.size());
}

}  // namespace

void WireReader::reals(std::vector<float>& to) const {
  if ((kind_ != fixed32 && kind_ != length) || bytes_.size() % sizeof(float) != 0)
    broken("numbers are stored as something else");
  append(bytes_, to);
}

void WireReader::doubles(std::vector<double>& to) const {
  if ((kind_ != fixed64 && kind_ != length) || bytes_.size() % sizeof(double) != 0)
    broken("numbers are stored as something else");
  append(bytes_, to);
}

}  // namespace fuseline::onnx
