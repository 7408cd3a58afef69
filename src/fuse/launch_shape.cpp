// Launch geometry: blocks, threads and chunks for concrete sizes.
#include <algorithm>

#include "fuse/plan.hpp"

namespace fuseline {
namespace {

// Elements that one block of a CPU works on: large enough to hide its start, small enough for the
// second-level cache and for an even split over threads.
constexpr std::int64_t block_elements = 32768;

std::int64_t ceil_div_value(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t extent_product(const KernelPlan& plan, int first, int last, const DimBindings& sizes) {
  std::int64_t count = 1;
  for (int k = first; k < last; ++k)
    count *= plan.axes[static_cast<std::size_t>(k)].extent.evaluate(sizes);
  return count;
}

std::int64_t blocks_cpu(const KernelPlan& plan, DimBindings& sizes) {
  int count = static_cast<int>(plan.axes.size()), kept = plan.kept_axes();
  std::int64_t row_work = 1;  // elements behind one step of the inner axis
  int inner_axis = plan.vector_axis();
  if (plan.strategy == Strategy::row) {
    std::int64_t rows = extent_product(plan, 0, kept, sizes);
    row_work = std::max<std::int64_t>(1, extent_product(plan, kept, count, sizes));
    std::int64_t chunk = std::max<std::int64_t>(1, block_elements / row_work);
    sizes["$rows"] = rows;
    sizes["$row_chunk"] = chunk;
    return ceil_div_value(rows, chunk);
  }
  if (plan.strategy == Strategy::column)
    row_work = std::max<std::int64_t>(1, extent_product(plan, kept, count, sizes));
  if (plan.row_axis() != inner_axis)
    row_work *= plan.axes[static_cast<std::size_t>(inner_axis)].extent.evaluate(sizes);
  inner_axis = plan.row_axis();
  std::int64_t rows = extent_product(plan, 0, inner_axis, sizes);
  std::int64_t inner = plan.axes[static_cast<std::size_t>(inner_axis)].extent.evaluate(sizes);
  std::int64_t lanes = inner_axis == plan.vector_axis() ? plan.lanes : 1;
  std::int64_t budget =
      std::max<std::int64_t>(lanes, block_elements / std::max<std::int64_t>(row_work, 1));
  std::int64_t inner_chunk = std::min(inner, budget / lanes * lanes);
  if (inner_chunk < 1) inner_chunk = 1;
  std::int64_t row_chunk = std::max<std::int64_t>(1, budget / std::max<std::int64_t>(inner, 1));
  std::int64_t inner_chunks = std::max<std::int64_t>(1, ceil_div_value(inner, inner_chunk));
  sizes["$rows"] = rows;
  sizes["$row_chunk"] = row_chunk;
  sizes["$inner_chunk"] = inner_chunk;
  sizes["$inner_chunks"] = inner_chunks;
  return ceil_div_value(rows, row_chunk) * inner_chunks;
}

std::int64_t blocks_cuda(const KernelPlan& plan, LaunchShape shape, DimBindings& sizes) {
  int count = static_cast<int>(plan.axes.size()), kept = plan.kept_axes();
  if (plan.strategy == Strategy::row) {
    std::int64_t inner = plan.axes.back().extent.evaluate(sizes);
    sizes["$groups"] = ceil_div_value(inner, plan.lanes);
    sizes["$rows"] = extent_product(plan, kept, count - 1, sizes);
    return extent_product(plan, 0, kept, sizes);
  }
  int inner_axis = plan.vector_axis();
  std::int64_t rows = extent_product(plan, 0, inner_axis, sizes);
  std::int64_t inner = plan.axes[static_cast<std::size_t>(inner_axis)].extent.evaluate(sizes);
  sizes["$rows"] = rows;
  sizes["$groups"] = ceil_div_value(inner, plan.lanes);
  sizes["$thread_groups"] = shape.groups;
  return ceil_div_value(rows * sizes["$groups"],
                        static_cast<std::int64_t>(shape.threads) * shape.groups);
}

// Whether the result is the same whatever thread takes which element.
bool any_order(const KernelPlan& plan) {
  if (plan.strategy == Strategy::column) return true;
  return std::none_of(
      plan.region->reductions.begin(), plan.region->reductions.end(), [](const auto& r) {
        return is_float(r.dtype) && (r.combine == Intrinsic::add || r.combine == Intrinsic::mul);
      });
}

// As many threads as a row has groups, in powers of two.
int row_threads(const KernelPlan& plan, const DimBindings& sizes) {
  int count = static_cast<int>(plan.axes.size());
  std::int64_t inner = plan.axes.back().extent.evaluate(sizes);
  std::int64_t work =
      extent_product(plan, plan.kept_axes(), count - 1, sizes) * ceil_div_value(inner, plan.lanes);
  int threads = plan.target.warp;
  while (threads < plan.target.block_threads && threads < work) threads *= 2;
  return threads;
}

}  // namespace

int most_threads(const KernelPlan& plan) {
  bool one_shape = plan.target.kind != DeviceKind::cuda || plan.strategy == Strategy::row;
  return one_shape || !any_order(plan) ? plan.target.block_threads : 2 * plan.target.block_threads;
}

std::vector<LaunchShape> launch_shapes(const KernelPlan& plan, const DimBindings& sizes) {
  int usual = plan.target.block_threads;
  if (plan.target.kind != DeviceKind::cuda) return {{usual, 1}};
  if (plan.strategy == Strategy::row) return {{row_threads(plan, sizes), 1}};
  if (!any_order(plan)) return {{usual, 1}};
  std::vector<LaunchShape> shapes = {{usual, 1}, {usual / 2, 1}, {2 * usual, 1}};
  DimBindings own = sizes;
  // Smaller blocks where large ones would leave multiprocessors idle.
  if (launch_blocks(plan, shapes[0], own) < 2 * plan.target.processors)
    std::swap(shapes[0], shapes[1]);
  bool combines = plan.strategy == Strategy::flat && !plan.region->reductions.empty();
  if (combines)  // fewer blocks have to combine
    for (int groups : {2, 4})
      for (int threads : {usual, usual / 2, 2 * usual}) shapes.push_back({threads, groups});
  return shapes;
}

std::int64_t launch_blocks(const KernelPlan& plan, LaunchShape shape, DimBindings& sizes) {
  std::int64_t blocks = plan.target.kind == DeviceKind::cuda ? blocks_cuda(plan, shape, sizes)
                                                             : blocks_cpu(plan, sizes);
  // A reduction of no elements still writes its identity.
  bool whole = plan.strategy == Strategy::flat && !plan.region->reductions.empty();
  return whole ? std::max<std::int64_t>(1, blocks) : blocks;
}

}  // namespace fuseline
