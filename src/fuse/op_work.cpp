// Read off the op table's formulas.
#include "fuse/op_work.hpp"

#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "graph/op_table.hpp"

namespace fuseline {
namespace {

constexpr int transcendental_work = 8;

int work_of_formula(std::string_view formula) {
  static const std::set<std::string_view> cheap = {"max",  "min",   "select", "abs",  "sqrt",
                                                   "ceil", "floor", "trunc",  "rint", "infinity"};
  int work = 1;
  for (std::size_t i = 0; i < formula.size(); ++i) {
    if (!std::isalpha(static_cast<unsigned char>(formula[i]))) continue;
    std::size_t end = i;
    while (end < formula.size() && std::isalnum(static_cast<unsigned char>(formula[end]))) ++end;
    std::string_view name = formula.substr(i, end - i);
    bool call = end < formula.size() && formula[end] == '(';
    if (call && !cheap.contains(name)) work += transcendental_work - 1;
    i = end;
  }
  return work;
}

}  // namespace

int work_of(OpCode op) {
  static const std::vector<int> all = [] {
    std::vector<int> work;
    for (const OpInfo& row : op_table()) work.push_back(work_of_formula(row.formula));
    return work;
  }();
  return all[static_cast<std::size_t>(op)];
}

}  // namespace fuseline
