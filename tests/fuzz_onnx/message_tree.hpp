// A message of Protocol Buffers as a tree, so that a fuzzer can change parts and keep the lengths
// right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace fuseline::testing {

struct Field {
  std::uint64_t number = 1;
  int wire = 0;                 // 0 varint, 1 eight bytes, 2 bytes or a message, 5 four bytes
  std::uint64_t value = 0;      // of a number
  std::string bytes;            // of bytes that are no message
  std::vector<Field> children;  // of a message
};

// What can be read as fields becomes a message; empty where the whole cannot.
std::vector<Field> parse_fields(std::string_view bytes);
std::string to_bytes(const std::vector<Field>& fields);

// Every field of the tree, and the lists that hold them.
std::vector<Field*> all_fields(std::vector<Field>& fields);
std::vector<std::vector<Field>*> all_lists(std::vector<Field>& fields);

// One change: a number, some bytes, a field twice, gone, moved, or in another's place.
// `change_bytes` changes a text.
template <class Change>
void mutate(std::vector<Field>& fields, std::mt19937& random, Change change_bytes) {
  std::vector<Field*> all = all_fields(fields);
  auto any = [&](auto& list) -> auto& { return list[random() % list.size()]; };
  if (all.empty()) return;
  Field& field = *any(all);
  switch (random() % 8) {
    case 0:
    case 1:
      if (field.wire != 2) {
        constexpr std::uint64_t odd[] = {0, 1, 2, 7, 16, ~0ull, 1ull << 31, 1ull << 63, 1ull << 40};
        field.value =
            random() % 2 ? odd[random() % std::size(odd)] : field.value + random() % 5 - 2;
        return;
      }
      [[fallthrough]];
    case 2:
    case 3:
      if (field.wire == 2 && field.children.empty()) field.bytes = change_bytes(field.bytes);
      return;
    case 4: {
      std::vector<std::vector<Field>*> lists = all_lists(fields);
      Field copy = field;
      std::vector<Field>& to = *any(lists);
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(random() % (to.size() + 1)), copy);
      return;
    }
    case 5: {
      std::vector<std::vector<Field>*> lists = all_lists(fields);
      std::vector<Field>& from = *any(lists);
      if (!from.empty())
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(random() % from.size()));
      return;
    }
    case 6: {
      Field copy = *any(all);
      copy.number = field.number;
      field = copy;
      return;
    }
    default: {
      // A name of somewhere else: edges between other nodes, other operators.
      Field& other = *any(all);
      if (field.wire == 2 && field.children.empty() && other.wire == 2 && other.children.empty())
        field.bytes = other.bytes;
    }
  }
}

}  // namespace fuseline::testing
