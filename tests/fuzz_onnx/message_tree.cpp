// Reading and writing the wire format.
#include "fuzz_onnx/message_tree.hpp"

#include <cstring>
#include <optional>

namespace fuseline::testing {
namespace {

constexpr int max_depth = 12;

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

bool take_number(std::string_view& bytes, std::size_t size, std::uint64_t& value) {
  if (bytes.size() < size) return false;
  std::memcpy(&value, bytes.data(), size);
  bytes.remove_prefix(size);
  return true;
}

bool parse(std::string_view bytes, int depth, std::vector<Field>& fields) {
  while (!bytes.empty()) {
    auto key = take_varint(bytes);
    if (!key || *key >> 3 == 0 || *key >> 3 > 4096) return false;
    Field field;
    field.number = *key >> 3;
    field.wire = static_cast<int>(*key & 7);
    if (field.wire == 0) {
      auto value = take_varint(bytes);
      if (!value) return false;
      field.value = *value;
    } else if (field.wire == 1 || field.wire == 5) {
      if (!take_number(bytes, field.wire == 1 ? 8 : 4, field.value)) return false;
    } else if (field.wire == 2) {
      auto size = take_varint(bytes);
      if (!size || *size > bytes.size()) return false;
      std::string_view inner = bytes.substr(0, *size);
      bytes.remove_prefix(*size);
      bool is_message =
          depth < max_depth && inner.size() >= 2 && parse(inner, depth + 1, field.children);
      if (!is_message) {
        field.children.clear();
        field.bytes = inner;
      }
    } else {
      return false;
    }
    fields.push_back(std::move(field));
  }
  return true;
}

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

}  // namespace

std::vector<Field> parse_fields(std::string_view bytes) {
  std::vector<Field> fields;
  if (!parse(bytes, 0, fields)) fields.clear();
  return fields;
}

std::string to_bytes(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    put_varint(out, field.number << 3 | static_cast<std::uint64_t>(field.wire));
    if (field.wire == 0) {
      put_varint(out, field.value);
    } else if (field.wire == 2) {
      std::string inner = field.children.empty() ? field.bytes : to_bytes(field.children);
      put_varint(out, inner.size());
      out += inner;
    } else {
      out.append(reinterpret_cast<const char*>(&field.value), field.wire == 1 ? 8 : 4);
    }
  }
  return out;
}

std::vector<Field*> all_fields(std::vector<Field>& fields) {
  std::vector<Field*> all;
  for (Field& field : fields) {
    all.push_back(&field);
    for (Field* inner : all_fields(field.children)) all.push_back(inner);
  }
  return all;
}

std::vector<std::vector<Field>*> all_lists(std::vector<Field>& fields) {
  std::vector<std::vector<Field>*> all = {&fields};
  for (Field& field : fields)
    if (!field.children.empty())
      for (auto* list : all_lists(field.children)) all.push_back(list);
  return all;
}

}  // namespace fuseline::testing
