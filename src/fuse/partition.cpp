// Partition: groups in order, each as a Region or a call.
#include <fmt/format.h>

#include "fuse/build_region.hpp"
#include "fuse/grouping.hpp"

namespace fuseline {
namespace {

Call call_of(const Grouping& grouping, ValueId output) {
  Call call = grouping.calls().at(output);
  call.reasons.push_back(fmt::format("{} is stored: {}", describe_value(grouping.graph(), output),
                                     grouping.reason(output)));
  return call;
}

}  // namespace

std::vector<Work> partition(const Graph& graph, const PartitionOptions& options) {
  Grouping grouping(graph, options);
  std::vector<Work> work;
  for (std::size_t g : grouping.order()) {
    const Group& group = grouping.groups()[g];
    if (group.is_whole) continue;
    if (group.call)
      work.emplace_back(call_of(grouping, group.points[0]));
    else
      work.emplace_back(build_region(grouping, g, options.parity));
  }
  return work;
}

}  // namespace fuseline
