// The parts of a Program: regions and their kernels, Instances by size, Lanes.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "fuse/lower.hpp"
#include "fuseline/program.hpp"
#include "program/built_kernels.hpp"
#include "program/device.hpp"
#include "program/segment_lanes.hpp"

namespace fuseline {

// One compiled variant of a Region.
struct Kernel {
  KernelPlan plan;
  LoweredKernel lowered;
  std::shared_ptr<const CompiledKernel> compiled;
};

// A Region and its kernels by guards. Thread-safe.
class RegionKernels {
 public:
  RegionKernels(Region region, std::string name, Device& device)
      : region_(std::move(region)), name_(std::move(name)), device_(device) {}
  // The kernel for these guards; after `max_variants` of them, one that works for all.
  std::shared_ptr<const Kernel> get(const PlanGuards& guards);
  const Region& region() const { return region_; }
  const std::string& name() const { return name_; }
  int count() const;

 private:
  static constexpr std::size_t max_variants = 4;
  std::shared_ptr<const Kernel> make(const PlanGuards& guards);
  Region region_;
  std::string name_;
  Device& device_;
  mutable std::mutex mutex_;
  std::map<PlanGuards, std::shared_ptr<const Kernel>> kernels_;
};

// Where a kernel's pointer comes from at run time.
struct Place {
  enum class Kind : std::uint8_t { input, output, arena, constant, ticket };
  Kind kind = Kind::arena;
  std::size_t index = 0;    // input, output, constant: position; ticket: which
  std::int64_t offset = 0;  // arena
  std::int64_t bytes = 0;   // arena, constant, ticket
};

// One kernel or one library call.
struct Step {
  std::string_view name() const;
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const PreparedCall> call;
  std::string_view call_name;
  std::vector<Place> places;  // by kernel argument; of a call: operands, result, scratch memory
  std::vector<std::uint64_t> params;
  std::int64_t blocks = 0;
  LaunchShape shape;
};

// What the schedule does at one place, at any size.
struct Task {
  std::unique_ptr<RegionKernels> kernels;  // of a Region
  std::optional<Call> call;                // or this
  std::string name;
};

// A Program at one size: immutable, shared by Lanes.
struct Instance {
  DimBindings sizes;
  std::vector<Step> steps;
  std::vector<Shape> output_shapes;
  std::int64_t arena_bytes = 0;
  std::int64_t live_bound = 0;  // no plan of the arena needs less
};

// Decisions that change times but not results, where they are not measured.
struct Choices {
  // Which of a kernel's launch shapes is taken, by position; empty: the fastest. The kernel is
  // named as its Region is.
  std::function<std::size_t(const std::string& kernel, std::span<const LaunchShape>)> shape;
  // Told of every kernel of an Instance that is made: its sizes, and the shape that was taken.
  std::function<void(const std::shared_ptr<const Kernel>&, const Region&, const DimBindings&,
                     LaunchShape)>
      on_kernel;
};

struct Program::Impl {
  // `passed`: the passes have run on this graph.
  Impl(const Graph& graph, const CompileOptions& options, Device& device, Choices choices = {},
       bool passed = false);

  // outputs_aligned: every output starts at a multiple of 16 bytes on the device.
  std::shared_ptr<const Instance> instance(const TensorMap& inputs, bool outputs_aligned = true);
  // The same where it has been made before, else nullptr.
  std::shared_ptr<const Instance> known_instance(const TensorMap& inputs, bool outputs_aligned);

  // The device failed in a way that nothing recovers from: no run from now on.
  void lose(const std::string& why);
  void refuse_if_lost();

  Graph graph;
  CompileOptions options;
  Choices choices;
  Device& device;
  std::vector<DType> call_types;  // contractions of these go to the device's library
  std::vector<Task> tasks;
  BuiltKernels built;
  std::vector<CompiledSegment> segments;  // with late sizes; then there are no tasks
  std::vector<std::shared_ptr<void>> constants;  // on the device, by node order
  std::map<ValueId, std::size_t> constant_of;

  std::mutex mutex;
  std::string lost;             // why nothing runs any more
  std::size_t arena_bytes = 0;  // largest seen
  std::vector<std::unique_ptr<Lane::Impl>> idle;

 private:
  // Least recently used Instances go first when there are too many.
  static constexpr std::size_t max_instances = 64;
  struct KeyHash {
    std::size_t operator()(const std::vector<std::int64_t>& key) const;
  };
  using Entry = std::pair<std::vector<std::int64_t>, std::shared_ptr<const Instance>>;
  void key_of(const TensorMap& inputs, bool outputs_aligned, std::vector<std::int64_t>& key) const;
  std::shared_ptr<const Instance> find(const std::vector<std::int64_t>& key);
  std::vector<Task> partitioned(int max_operations);
  void plan_regions();
  void upload_constants();
  void upload_constant(ValueId value, Queue& queue, bool for_kernel);
  std::list<Entry> recent_;
  std::unordered_map<std::vector<std::int64_t>, std::list<Entry>::iterator, KeyHash> instances_;
  std::vector<std::size_t> operand_inputs_;  // inputs whose values are sizes

 public:
  std::size_t instance_count() const { return recent_.size(); }
};

// compile() for a device that is at hand.
Program compile_on(Device& device, const Graph& graph, const CompileOptions& options,
                   Choices choices = {}, bool passed = false);

std::shared_ptr<const Instance> make_instance(Program::Impl& program, const TensorMap& inputs,
                                              bool outputs_aligned);

// Bytes below and above element 0 that a tensor reaches.
struct Reach {
  std::int64_t low = 0;   // <= 0
  std::int64_t high = 0;  // one past the last byte
};
Reach reach_of(const Tensor& tensor);

// Memory of one tensor that the caller gave, as a Lane sees it.
struct External {
  void* device = nullptr;      // where kernels find element 0
  std::int64_t bytes = 0;      // from there on
  const void* host = nullptr;  // not null: copied from or to here
  void* staged = nullptr;      // the copy's first byte on the device
  std::size_t copy_bytes = 0;
};

// One of the caller's tensors, as a recording holds it.
struct BoundAddress {
  const void* device = nullptr;
  const void* host = nullptr;
  std::uint64_t memory_id = 0;  // of memory that is copied, see Queue::memory_id
  bool operator==(const BoundAddress&) const = default;
};

// A recording and the addresses that it holds.
struct BoundRecording {
  std::vector<BoundAddress> addresses;
  std::unique_ptr<Recording> recording;
};

// What one step of a run took on the device.
struct StepTime {
  enum class Kind : std::uint8_t { upload, kernel, copy, download };
  Kind kind = Kind::kernel;
  std::string name;  // of the kernel, or of the tensor that is copied
  double bytes = 0;  // of copies
  double us = 0;     // once
  int times = 1;     // how often it was done, one after the other, for one measurement
};

// A recording that notes points of time around every step.
struct TimedRecording {
  std::shared_ptr<const Instance> instance;
  std::vector<BoundAddress> addresses;
  std::vector<StepTime> steps;
  std::unique_ptr<Recording> recording;
};

// How far a size has come on a Lane: cold, warm (has run), recorded, or disabled for a reason.
struct RecordState {
  std::shared_ptr<const Instance> instance;
  int runs = 0;
  std::list<BoundRecording> recordings;  // most recent first
  std::string disabled;
};

struct Lane::Impl {
  explicit Impl(std::shared_ptr<Program::Impl> program);
  void run(const TensorMap& inputs, const TensorMap& outputs);
  // Allocates the outputs; for Programs of several segments.
  std::vector<Tensor> run_segments(const TensorMap& inputs, const TensorMap& given);
  void enqueue(const TensorMap& inputs, const TensorMap& outputs, void* stream);
  // A run from a second recording, with points of time around every step, that is kept for as long
  // as sizes and addresses stay. Empty, and nothing was run, where the device has no such points.
  std::vector<StepTime> run_timed(const TensorMap& inputs, const TensorMap& outputs);
  // The same with every kernel repeated until it lasts `least_us`: a point of time costs more than
  // a short kernel does. Kernels may be repeated: no kernel writes what it reads.
  std::vector<StepTime> run_repeated(const TensorMap& inputs, const TensorMap& outputs,
                                     double least_us);

  std::shared_ptr<Program::Impl> program;
  Observer* observer = nullptr;

 private:
  static constexpr std::size_t max_states = 16;
  // Buffers that take turns have a recording each, as far as three-slot rings and one to spare;
  // beyond that the one unused for longest is patched.
  static constexpr std::size_t max_recordings = 4;

  void submit(const TensorMap& inputs, const TensorMap& outputs);
  void prepare(const Instance& instance);
  void reserve(Arena& arena, void*& base, std::int64_t& bytes, std::int64_t wanted);
  void place_externals(const TensorMap& inputs, const TensorMap& outputs);
  void place(const Tensor& tensor, const std::string& name, External& external,
             std::int64_t& staged);
  void schedule(const Instance& instance);
  void mark(StepTime::Kind kind, std::string_view name, double bytes, int times = 1);
  std::vector<StepTime> timed(const TensorMap& inputs, const TensorMap& outputs);
  void execute_timed(const std::shared_ptr<const Instance>& instance);
  void bind(const Step& step);
  void start(const Step& step);
  void launch(const Step& step);
  void execute(const std::shared_ptr<const Instance>& instance);
  RecordState& state_of(const std::shared_ptr<const Instance>& instance);
  void note_addresses();
  bool can_patch(const BoundRecording& bound) const;
  Recording* recording_for(RecordState& state);
  void patch(BoundRecording& bound, const Instance& instance);
  template <class Work>
  void guarded(Work&& work);
  void settle() noexcept;
  std::string suspects() const;

  std::unique_ptr<SegmentLanes> segments_;
  std::unique_ptr<Arena> arena_, staging_;  // staging: device copies of tensors in host memory
  void *arena_base_ = nullptr, *staging_base_ = nullptr;
  std::int64_t arena_bytes_ = 0, staging_bytes_ = 0;
  std::shared_ptr<void> tickets_;           // one cache line a step, zero between runs
  std::shared_ptr<void> dummy_;             // what empty tensors point to
  std::vector<External> inputs_, outputs_;  // by the graph's order
  std::vector<BoundAddress> addresses_;     // of the tensors of this run
  std::vector<void*> pointers_;
  std::vector<std::int64_t> bytes_;
  std::unique_ptr<Queue> queue_;   // ends before the memory that its work uses
  std::list<RecordState> states_;  // most recent first
  bool copies_outputs_ = false;    // one value under several names
  bool check_each_ = false;        // FUSELINE_CHECK=each
  bool captured_ = false;          // by the caller, during enqueue
  std::int64_t runs_ = 0;
  std::shared_ptr<const Instance> running_;
  std::unique_ptr<TimedRecording> timed_;
  std::vector<int> repeats_;           // of each kernel in timed_; empty: once each
  bool timing_ = false;                // this run is one from timed_
  TimedRecording* marking_ = nullptr;  // the recording that gets points of time
  const Step* checked_ = nullptr;      // the step that is waited for
};

}  // namespace fuseline
