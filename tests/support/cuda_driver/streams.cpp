// Streams and graphs of the simulated device.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "support/cuda_driver/work.hpp"

using fuseline::standin::Work;

struct CUstream_st {
  std::vector<Work> pending;
  bool captured = false;
  std::int64_t noted = 0;  // by the capture
};
struct CUgraphNode_st {
  Work work;
  std::vector<CUgraphNode_st*> after;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  std::vector<std::pair<CUgraphNode_st*, Work>> steps;  // in the order of execution
};

namespace fuseline::standin {
namespace {

template <class Object>
Handles<Object>& handles() {
  static auto* live = new Handles<Object>;
  return *live;
}

template <class Object>
Result use(Object* object, const char* what) {
  if (Result why = usable()) return why;
  return handles<Object>().has(object) ? success : misuse(what, error_invalid_handle);
}

Result submit(Stream stream, Work work) {
  if (Result why = use(stream, "work for no stream")) return why;
  if (stream->captured) {
    ++stream->noted;
    return success;
  }
  stream->pending.push_back(std::move(work));
  return success;
}

Result drain(Stream stream) {
  std::vector<Work> work = std::exchange(stream->pending, {});
  for (const Work& step : work)
    if (Result why = perform(step)) return why;
  return success;
}

Result submit_copy(Stream stream, std::uint64_t to, bool to_device, std::uint64_t from,
                   bool from_device, std::size_t bytes) {
  Work work;
  work.kind = Work::Kind::copy;
  work.to = to;
  work.from = from;
  work.to_device = to_device;
  work.from_device = from_device;
  work.bytes = bytes;
  return submit(stream, std::move(work));
}

std::uint64_t address(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

Result kernel_work(Work& work, const KernelNode& node) {
  return kernel_work(work, node.function, node.grid_x, node.block_x, node.params);
}

Result add_node(Node* node, Graph graph, const Node* after, std::size_t count, Work work) {
  if (Result why = use(graph, "a node for no graph")) return why;
  auto made = std::make_unique<CUgraphNode_st>(CUgraphNode_st{std::move(work), {}});
  for (std::size_t i = 0; i < count; ++i) {
    auto is_it = [&](const auto& known) { return known.get() == after[i]; };
    if (std::none_of(graph->nodes.begin(), graph->nodes.end(), is_it))
      return misuse("a node behind one of another graph");
    made->after.push_back(after[i]);
  }
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return success;
}

// Of the nodes that may run, the youngest first: what is not ordered does not come in order.
void order_steps(CUgraphExec_st& exec, const CUgraph_st& graph) {
  std::map<const CUgraphNode_st*, std::size_t> position;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) position[graph.nodes[i].get()] = i;
  std::vector<std::size_t> missing(graph.nodes.size());
  std::vector<std::vector<std::size_t>> behind(graph.nodes.size());
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    missing[i] = graph.nodes[i]->after.size();
    for (const CUgraphNode_st* node : graph.nodes[i]->after) behind[position[node]].push_back(i);
    if (missing[i] == 0) ready.insert(i);
  }
  while (!ready.empty()) {
    std::size_t now = *ready.rbegin();
    ready.erase(now);
    exec.steps.emplace_back(graph.nodes[now].get(), graph.nodes[now]->work);
    for (std::size_t next : behind[now])
      if (--missing[next] == 0) ready.insert(next);
  }
}

Result set_step(Exec exec, Node node, Work work) {
  for (auto& [known, step] : exec->steps) {
    if (known != node) continue;
    bool same = step.kind == work.kind && step.function == work.function &&
                step.to_device == work.to_device && step.from_device == work.from_device;
    if (!same) return misuse("a step became another kind of step");
    step = std::move(work);
    return success;
  }
  return misuse("a node of another graph was set");
}

}  // namespace

std::int64_t pending_work() {
  std::int64_t count = 0;
  for (const CUstream_st* stream : handles<CUstream_st>().all())
    count += static_cast<std::int64_t>(stream->pending.size());
  return count;
}

Result drain_all() {
  for (CUstream_st* stream : handles<CUstream_st>().all())
    if (Result why = drain(stream)) return why;
  return success;
}

void drop_pending_work() {
  for (CUstream_st* stream : handles<CUstream_st>().all()) stream->pending.clear();
}

void begin_capture(Stream stream) {
  stream->captured = true;
  stream->noted = 0;
}

std::int64_t end_capture(Stream stream) {
  stream->captured = false;
  return stream->noted;
}

// ---- streams

Result cuStreamCreate(SimulatedDevice, Stream* stream, unsigned) {
  if (Result why = usable()) return why;
  *stream = handles<CUstream_st>().add(new CUstream_st);
  return success;
}

Result cuStreamDestroy_v2(SimulatedDevice, Stream stream) {
  if (Result why = use(stream, "a stream destroyed twice")) return why;
  if (!stream->pending.empty()) misuse("a stream destroyed with work in flight");
  handles<CUstream_st>().remove(stream);
  return success;
}

Result cuStreamSynchronize(SimulatedDevice, Stream stream) {
  if (Result why = use(stream, "a wait for no stream")) return why;
  if (stream->captured) return misuse("a wait for a captured stream", error_captured);
  return drain(stream);
}

Result cuStreamQuery(SimulatedDevice, Stream stream) {
  if (Result why = use(stream, "a question about no stream")) return why;
  return stream->pending.empty() ? success : error_not_ready;
}

Result cuStreamIsCapturing(SimulatedDevice, Stream stream, CaptureStatus* status) {
  if (Result why = use(stream, "a question about no stream")) return why;
  *status = stream->captured ? 1 : 0;
  return success;
}

Result cuLaunchKernel(SimulatedDevice, Function function, unsigned grid, unsigned, unsigned,
                      unsigned threads, unsigned, unsigned, unsigned, Stream stream, void** params,
                      void**) {
  Work work;
  if (Result why = use(stream, "a launch on no stream")) return why;
  if (Result why = kernel_work(work, function, grid, threads, params)) return why;
  return submit(stream, std::move(work));
}

Result cuMemcpyHtoDAsync_v2(SimulatedDevice, Pointer to, const void* from, std::size_t bytes,
                            Stream stream) {
  return submit_copy(stream, to, true, address(from), false, bytes);
}

Result cuMemcpyDtoHAsync_v2(SimulatedDevice, void* to, Pointer from, std::size_t bytes,
                            Stream stream) {
  return submit_copy(stream, address(to), false, from, true, bytes);
}

Result cuMemcpyDtoDAsync_v2(SimulatedDevice, Pointer to, Pointer from, std::size_t bytes,
                            Stream stream) {
  return submit_copy(stream, to, true, from, true, bytes);
}

Result cuMemsetD8Async(SimulatedDevice, Pointer to, unsigned char byte, std::size_t bytes,
                       Stream stream) {
  Work work;
  work.kind = Work::Kind::fill;
  work.to = to;
  work.to_device = true;
  work.bytes = bytes;
  work.byte = byte;
  return submit(stream, std::move(work));
}

// ---- events

Result reach(Event event) {
  if (!handles<CUevent_st>().has(event)) return misuse("an event that is gone was reached");
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  event->ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return success;
}

Result cuEventCreate(SimulatedDevice, Event* event, unsigned) {
  if (Result why = usable()) return why;
  *event = handles<CUevent_st>().add(new CUevent_st);
  return success;
}

Result cuEventDestroy_v2(SimulatedDevice, Event event) {
  if (Result why = usable()) return why;
  return handles<CUevent_st>().remove(event) ? success : misuse("an event destroyed twice");
}

Result cuEventElapsedTime(SimulatedDevice, float* ms, Event from, Event to) {
  constexpr double ns_per_ms = 1e6;
  if (Result why = usable()) return why;
  if (!handles<CUevent_st>().has(from) || !handles<CUevent_st>().has(to))
    return misuse("the time between no events");
  if (from->ns == 0 || to->ns == 0) return error_not_ready;
  *ms = static_cast<float>(static_cast<double>(to->ns - from->ns) / ns_per_ms);
  return success;
}

// ---- graphs

Result cuGraphCreate(SimulatedDevice, Graph* graph, unsigned) {
  if (Result why = usable()) return why;
  *graph = handles<CUgraph_st>().add(new CUgraph_st);
  return success;
}

Result cuGraphDestroy(SimulatedDevice, Graph graph) {
  if (Result why = use(graph, "a graph destroyed twice")) return why;
  handles<CUgraph_st>().remove(graph);
  return success;
}

Result cuGraphAddKernelNode_v2(SimulatedDevice, Node* node, Graph graph, const Node* after,
                               std::size_t count, const KernelNode* kernel) {
  Work work;
  if (Result why = kernel_work(work, *kernel)) return why;
  return add_node(node, graph, after, count, std::move(work));
}

Result cuGraphAddMemcpyNode(SimulatedDevice, Node* node, Graph graph, const Node* after,
                            std::size_t count, const CopyNode* copy, Context) {
  Work work;
  if (Result why = copy_work(work, *copy)) return why;
  return add_node(node, graph, after, count, std::move(work));
}

Result cuGraphAddEventRecordNode(SimulatedDevice, Node* node, Graph graph, const Node* after,
                                 std::size_t count, Event event) {
  if (!handles<CUevent_st>().has(event)) return misuse("a node for no event");
  Work work;
  work.kind = Work::Kind::event;
  work.event = event;
  return add_node(node, graph, after, count, std::move(work));
}

Result cuGraphInstantiateWithFlags(SimulatedDevice, Exec* exec, Graph graph, unsigned long long) {
  if (Result why = use(graph, "no graph to instantiate")) return why;
  *exec = handles<CUgraphExec_st>().add(new CUgraphExec_st);
  order_steps(**exec, *graph);
  return success;
}

Result cuGraphExecKernelNodeSetParams_v2(SimulatedDevice, Exec exec, Node node,
                                         const KernelNode* kernel) {
  if (Result why = use(exec, "a step of no graph was set")) return why;
  Work work;
  if (Result why = kernel_work(work, *kernel)) return why;
  return set_step(exec, node, std::move(work));
}

Result cuGraphExecMemcpyNodeSetParams(SimulatedDevice, Exec exec, Node node, const CopyNode* copy,
                                      Context) {
  if (Result why = use(exec, "a step of no graph was set")) return why;
  Work work;
  if (Result why = copy_work(work, *copy)) return why;
  return set_step(exec, node, std::move(work));
}

Result cuGraphLaunch(SimulatedDevice, Exec exec, Stream stream) {
  if (Result why = use(exec, "a launch of no graph")) return why;
  for (const auto& [node, work] : exec->steps)
    if (Result why = submit(stream, work)) return why;
  return success;
}

Result cuGraphExecDestroy(SimulatedDevice, Exec exec) {
  if (Result why = use(exec, "a graph destroyed twice")) return why;
  handles<CUgraphExec_st>().remove(exec);
  return success;
}

}  // namespace fuseline::standin
