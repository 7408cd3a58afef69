// Program: a compiled graph. Lane: where it runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuseline/graph.hpp"
#include "fuseline/observer.hpp"
#include "fuseline/tensor.hpp"

namespace fuseline {

// Tensors by the name of the graph's input or output.
using TensorMap = std::vector<std::pair<std::string, Tensor>>;

// When a run of a size is recorded, on devices where that pays (CUDA graphs).
enum class Record {
  automatic,  // at the second run of a size
  on,         // at the first
  off,
};

struct CompileOptions {
  std::string device = "auto";  // "auto", "cpu", "cuda", "cuda:N"
  bool fusion = true;           // false: one kernel an operation, for comparison
  bool library = true;          // false: contractions are generated too, none is a library call
  bool parity = false;          // f16 and bf16 rounded at every value, as evaluate does
  Record record = Record::automatic;
  bool deterministic = false;                // nothing is chosen by measurement
  std::vector<std::string> disabled_passes;  // names as in docs/architecture.md
};

// What is known of one kernel of a Program.
struct KernelReport {
  std::string name;
  std::string plan;                     // how its Region is laid out, one line
  std::vector<std::string> operations;  // the operations inside
  std::vector<std::string> reasons;     // why its borders are where they are
  std::string loop_ir;                  // a dump for people
  std::string source;                   // what the device's compiler is given
  std::string cuda_source;              // the same Region planned for CUDA, header-free CUDA C
  bool cache_hit = false;
  double compile_ms = 0;  // generation and compilation, or loading on a hit
  std::optional<int> registers, spill_bytes;
};

struct ProgramStats {
  int instances = 0;            // sizes met and kept
  int kernels = 0;              // compiled or loaded kernels
  std::size_t arena_bytes = 0;  // of the Lane that needs most
  std::string recording;        // "cpu: not needed, ..."
};

class Program;
class Device;
struct Choices;

// Runs a Program's Instances one after the other; owns their working memory. One thread at a time;
// make one Lane for each thread. Keeps its Program alive.
class Lane {
 public:
  struct Impl;
  ~Lane();
  Lane(Lane&&) noexcept;
  Lane& operator=(Lane&&) noexcept;

  // All inputs and outputs by name; outputs are dense tensors of the right shape that the caller
  // owns, and overlap neither each other nor an input. Returns when the outputs are written.
  void run(const TensorMap& inputs, const TensorMap& outputs);
  // The same on a CUDA stream of the caller (CUstream, cudaStream_t), in order with what else is
  // enqueued there; returns without waiting. Host memory must stay as it is, and the Lane alive,
  // until the work is done. One stream at a time: the Lane's runs share its working memory.
  // A stream that is being captured gets the launches, as long as the size has run before.
  void enqueue(const TensorMap& inputs, const TensorMap& outputs, void* stream);
  // Reports every kernel from now on; nullptr ends it.
  void set_observer(Observer* observer);

 private:
  friend class Program;
  explicit Lane(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Immutable and cheap to copy; every member may be called from any thread.
class Program {
 public:
  struct Impl;

  // In a Lane of the Program's own pool.
  void run(const TensorMap& inputs, const TensorMap& outputs) const;
  // Allocates the outputs, in the graph's order.
  std::vector<Tensor> run(const TensorMap& inputs) const;
  Lane make_lane() const;
  // A dense host tensor, uninitialised, in memory that the device copies from and to fastest
  // (pinned for CUDA). Making one is slow: keep it for many runs.
  Tensor allocate(DType dtype, const Shape& shape) const;

  // Shapes of the outputs for these inputs, in the graph's order. Error where one is known only
  // after a run (late sizes).
  std::vector<Shape> output_shapes(const TensorMap& inputs) const;
  // The kernels for dense inputs of ordinary size. Compiles what is not compiled yet.
  std::vector<KernelReport> report() const;
  ProgramStats stats() const;
  const Graph& graph() const;  // after the passes
  std::string_view device() const;

 private:
  friend Program compile_on(Device&, const Graph&, const CompileOptions&, Choices);
  explicit Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

// Plans the graph for a device. Kernels are compiled at the first run of a size that needs them.
Program compile(const Graph& graph, const CompileOptions& options = {});

}  // namespace fuseline
