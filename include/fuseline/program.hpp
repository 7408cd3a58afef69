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

// The float type that an f32 graph computes in. Contractions and reductions keep fp32 sums; inputs
// and outputs keep their types.
enum class Precision {
  fp32,  // as the graph says
  bf16,
  fp16,
};

struct CompileOptions {
  std::string device = "auto";  // "auto", "cpu", "cuda", "cuda:N"
  bool fusion = true;           // false: one kernel an operation, for comparison
  bool library = true;          // false: contractions are generated too, none is a library call
  bool parity = false;          // f16 and bf16 rounded at every value, as evaluate does
  Record record = Record::automatic;
  bool deterministic = false;                // nothing is chosen by measurement
  std::vector<std::string> disabled_passes;  // names as in docs/architecture.md
  Precision precision = Precision::fp32;
  // Nodes of the model that stay in fp32, by name; a name also means all "name/...".
  std::vector<std::string> keep_fp32;
};

// What is known of one kernel of a Program.
struct KernelReport {
  std::string name;
  bool is_call = false;                 // of the device's library: no code is generated
  std::string plan;                     // how its Region is laid out, one line
  std::vector<ValueId> values;          // of the Program's graph, computed inside
  std::vector<std::string> operations;  // the operations inside
  std::vector<std::string> origins;     // the model's nodes that they come from
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

// Memory of a Program at one size, in bytes.
struct MemoryUse {
  std::int64_t arena = 0;       // of values between kernels
  std::int64_t live_bound = 0;  // no plan needs less
  std::int64_t constants = 0;   // weights on the device
};

// What a saved Program carries for whoever saves and loads it.
struct SavedNotes {
  std::string text;   // any, UTF-8
  TensorMap tensors;  // names are unique
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
  // What runs of these inputs need.
  MemoryUse memory(const TensorMap& inputs) const;
  // Values of graph() that are written to memory, in the order in which they are.
  std::vector<ValueId> stored() const;
  const Graph& graph() const;  // after the passes
  std::string_view device() const;

  // The graph after the passes with its constants, the options and the notes, in one file that
  // load_program reads faster than the passes run. Equal Programs give equal bytes. The file
  // appears under its name only when it is complete.
  void save(const std::string& path, const SavedNotes& notes = {}) const;

 private:
  friend Program compile_on(Device&, const Graph&, const CompileOptions&, Choices, bool);
  explicit Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

// Whether the file begins as a saved Program does.
bool is_saved_program(const std::string& path);
// A Program that save() wrote; its weights stay in the mapped file. Of `options` the device, fusion,
// library calls, recording and determinism count; the rest was decided when it was compiled. Error
// for a file that is damaged, newer than this version, or compiled for another kind of device.
Program load_program(const std::string& path, const CompileOptions& options = {},
                     SavedNotes* notes = nullptr);

// Plans the graph for a device. Kernels are compiled at the first run of a size that needs them.
Program compile(const Graph& graph, const CompileOptions& options = {});

}  // namespace fuseline
