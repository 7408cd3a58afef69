// Names of nodes that stay in fp32: checked, and followed through the passes.
#include <algorithm>
#include <map>
#include <set>

#include "base/fail.hpp"
#include "base/nearest.hpp"
#include "passes/lower_precision.hpp"

namespace fuseline {
namespace {

constexpr int most_joined = 8;  // nodes that passes make one of

bool covers(const std::string& name, const std::string& origin) {
  return origin == name || origin.starts_with(name + "/");
}

std::set<std::string> origins_of(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes())
    if (!node.origin.empty()) names.insert(node.origin);
  return names;
}

// By node of the model: those that use its results.
std::map<std::string, std::set<std::string>> users_of(const Graph& graph) {
  std::map<std::string, std::set<std::string>> users;
  for (const Node& node : graph.nodes())
    for (ValueId input : node.inputs)
      if (const std::string& from = graph.node_of(input).origin; from != node.origin)
        users[from].insert(node.origin);
  return users;
}

}  // namespace

void check_kept(const Graph& graph, const std::vector<std::string>& kept) {
  if (kept.empty()) return;
  std::set<std::string> names = origins_of(graph);
  for (const std::string& name : kept) {
    auto found = std::any_of(names.begin(), names.end(),
                             [&](const std::string& origin) { return covers(name, origin); });
    if (found) continue;
    if (auto meant = nearest(name, {names.begin(), names.end()}))
      fail("no node is named \"{}\" (to keep in fp32); did you mean \"{}\"?", name, *meant);
    std::string some;
    for (const std::string& known : names) {
      if (some.size() > 120) break;
      some += (some.empty() ? "" : ", ") + known;
    }
    fail("no node is named \"{}\" (to keep in fp32); nodes are: {}{}", name,
         some.empty() ? "none has a name" : some, some.size() > 120 ? ", ..." : "");
  }
}

std::vector<std::string> kept_in(const Graph& later, const Graph& graph,
                                 const std::vector<std::string>& kept) {
  std::vector<std::string> result = kept;
  if (kept.empty()) return result;
  std::set<std::string> left = origins_of(later);
  auto users = users_of(graph);
  for (const std::string& origin : origins_of(graph)) {
    bool wanted = std::any_of(kept.begin(), kept.end(),
                              [&](const std::string& name) { return covers(name, origin); });
    std::string at = origin;
    // Only a single user can have taken the node in.
    for (int step = 0; step < most_joined; ++step)
      if (wanted && !left.contains(at) && users[at].size() == 1) at = *users[at].begin();
    if (wanted && at != origin && left.contains(at)) result.push_back(at);
  }
  return result;
}

}  // namespace fuseline
