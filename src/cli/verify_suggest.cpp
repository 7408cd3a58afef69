// Delta debugging over the nodes of a model.
#include "cli/verify_suggest.hpp"

#include <algorithm>

namespace fuseline::cli {
namespace {

using Names = std::vector<std::string>;

// Parts of nearly equal length.
std::vector<Names> split(const Names& names, std::size_t parts) {
  std::vector<Names> result;
  for (std::size_t i = 0; i < parts; ++i) {
    auto at = [&](std::size_t k) {
      return names.begin() + static_cast<std::ptrdiff_t>(names.size() * k / parts);
    };
    result.emplace_back(at(i), at(i + 1));
  }
  return result;
}

Names without(const std::vector<Names>& parts, std::size_t left_out) {
  Names rest;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i != left_out) rest.insert(rest.end(), parts[i].begin(), parts[i].end());
  return rest;
}

// One part that suffices, or all but one; nothing where neither passes.
std::optional<Names> reduced(const std::vector<Names>& parts, const PassesWith& passes,
                             bool* to_part) {
  for (const Names& part : parts) {
    *to_part = true;
    if (passes(part)) return part;
  }
  if (parts.size() == 2) return std::nullopt;  // the complements are the parts
  for (std::size_t i = 0; i < parts.size(); ++i) {
    *to_part = false;
    Names rest = without(parts, i);
    if (passes(rest)) return rest;
  }
  return std::nullopt;
}

}  // namespace

Names smallest_kept(Names nodes, const PassesWith& passes) {
  std::size_t parts = 2;
  while (nodes.size() >= 2) {
    parts = std::min(parts, nodes.size());
    bool to_part = false;
    if (auto fewer = reduced(split(nodes, parts), passes, &to_part)) {
      nodes = std::move(*fewer);
      parts = to_part ? 2 : std::max<std::size_t>(parts - 1, 2);
    } else if (parts == nodes.size()) {
      break;
    } else {
      parts *= 2;
    }
  }
  return nodes;
}

}  // namespace fuseline::cli
