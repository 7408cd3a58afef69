// The mask of a 4K frame beside what the memory gives, one atomic a pixel, unfused kernels and NPP.
#include <cstring>

#include "base/fail.hpp"
#include "cuda/benchmarks.hpp"
#include "cuda/program_row.hpp"
#include "cuda/stream_kernels.hpp"
#include "fuseline/ops.hpp"
#include "graphs.hpp"

namespace fuseline::bench {
namespace {

constexpr std::int64_t height = 2160, width = 3840, pixels = height * width;
constexpr int limit = 127;
// 530 MB of frames and masks: far more than three times the second-level cache.
constexpr std::size_t frame_count = 16;
constexpr double mask_bytes = 4.0 * pixels, count_bytes = 3.0 * pixels;

constexpr const char* atomic_per_pixel = R"(
extern "C" __global__ void mask_atomic_per_pixel(const unsigned char* rgb, unsigned char* mask,
                                                 unsigned long long* area, long long n) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  int s = 9798 * rgb[3 * i] + 19235 * rgb[3 * i + 1] + 3735 * rgb[3 * i + 2];
  bool set = ((s + 16384) >> 15) > 127;
  mask[i] = set ? 255 : 0;
  if (set) atomicAdd(area, 1ULL);
}
)";

Graph count_graph() {
  Graph graph;
  Value frame = graph.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), 3});
  graph.output("area", count(threshold(gray(frame), limit, 255)));
  return graph;
}

Graph hue_graph() {
  Graph graph;
  Value hsv = rgb_to_hsv(graph.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), 3}));
  Value inside = in_range(hsv, {20, 40, 30}, {140, 250, 240});
  graph.output("mask", inside);
  graph.output("area", count(inside));
  return graph;
}

class MaskBench {
 public:
  MaskBench(Session& session, const MeasureOptions& options)
      : session_(session), harness_(session, options) {
    make_frames();
    add_memory_rows();
    add_hand_written_rows();
    add_program_rows();
    harness_.compare({"mask + count: share of the memory's speed",
                      "fuseline mask + count",
                      {"memcpy", "stream 3:1"},
                      0.90});
    harness_.compare(
        {"the same against copies by a kernel", "fuseline mask + count", {"stream 1:1"}});
    harness_.compare({"count alone: share of reading", "fuseline count alone", {"read"}, 0.85});
    harness_.compare(
        {"against atomic-per-pixel", "fuseline mask + count", {"atomic-per-pixel"}, 20.0});
    harness_.compare({"against unfused", "fuseline mask + count", {"unfused"}});
    harness_.compare({"against NPP", "fuseline mask + count", {"NPP"}});
    harness_.compare({"the shape that was chosen, against the best",
                      "fuseline mask + count",
                      {"mask + count by shape"}});
    harness_.compare(
        {"the same for count alone", "fuseline count alone", {"count alone by shape"}});
    harness_.note("frames", frame_count);
    harness_.note("area of the last frame", area_);
  }

  void run() { harness_.run("mask and count of 3840x2160 RGB, us a frame"); }

 private:
  static std::uint64_t argument(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

  void make_frames() {
    constexpr std::size_t shift = 48;  // every frame has other pixels at the same place
    std::vector<std::uint8_t> noise(3 * pixels + shift * frame_count);
    std::uint32_t seed = 1;
    for (auto& byte : noise)
      byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
    for (std::size_t i = 0; i < frame_count; ++i) {
      frames_.push_back(session_.allocate(3 * pixels));
      masks_.push_back(session_.allocate(pixels));
      copies_.push_back(session_.allocate(2 * pixels));
      session_.upload(frames_[i], noise.data() + shift * i, 3 * pixels);
    }
    counter_ = session_.allocate(sizeof(std::int64_t));
    const std::uint8_t* last = noise.data() + shift * (frame_count - 1);
    for (std::int64_t i = 0; i < pixels; ++i) {
      const std::uint8_t* p = last + 3 * i;
      bool set = (9798 * p[0] + 19235 * p[1] + 3735 * p[2] + 16384) >> 15 > limit;
      mask_.push_back(set ? 255 : 0);
      area_ += set;
    }
  }

  std::vector<StreamUnit> units(const std::vector<char*>& to) const {
    std::vector<StreamUnit> all;
    for (std::size_t i = 0; i < frame_count; ++i) all.push_back({frames_[i], to[i]});
    return all;
  }

  void add_family(const std::string& name, std::vector<Row> rows) {
    for (Row& row : rows) {
      row.family = name;
      harness_.add(std::move(row));
    }
  }

  void add_memory_rows() {
    add_family("memcpy", copy_rows(session_, "memcpy", mask_bytes, units(copies_)));
    add_family("stream 3:1", stream_rows(session_, "stream 3:1", 3, 1, pixels / 16, units(masks_)));
    add_family("stream 1:1", stream_rows(session_, "stream 1:1", 1, 1, pixels / 8, units(copies_)));
    add_family("read", stream_rows(session_, "read", 3, 0, pixels / 16, units(masks_)));
  }

  void add_hand_written_rows() {
    session_.compile(atomic_per_pixel, "atomic_per_pixel");
    HandKernel kernel = session_.kernel("mask_atomic_per_pixel");
    Recorder recorder(session_);
    for (std::size_t i = 0; i < frame_count; ++i) {
      std::uint64_t arguments[] = {argument(frames_[i]), argument(masks_[i]), argument(counter_),
                                   pixels};
      recorder.launch(kernel.function, (pixels + 255) / 256, 256, arguments);
    }
    Row row;
    row.name = "atomic-per-pixel";
    row.bytes = mask_bytes;
    row.units = frame_count;
    row.replay = [graph = recorder.finish()](int n) { graph->replay(n); };
    row.facts = {kernel.registers, kernel.spill_bytes, 256, 1, (pixels + 255) / 256};
    row.check = [this] { check_mask("atomic-per-pixel"); };  // its counter is never set back
    harness_.add(std::move(row));
    NppFrames frames{
        {frames_.begin(), frames_.end()}, {masks_.begin(), masks_.end()}, height, width, limit};
    Row npp = npp_row(session_, frames, mask_bytes);
    npp.check = [this] { check_mask("NPP", pixels / 100); };  // it weighs colors a little otherwise
    harness_.add(std::move(npp));
  }

  std::vector<Run> runs(bool with_mask) const {
    DeviceId device = session_.device().id();
    std::vector<Run> all;
    for (std::size_t i = 0; i < frame_count; ++i) {
      Run run;
      run.inputs = {
          {"frame", Tensor(static_cast<void*>(frames_[i]), DType::u8, {height, width, 3}, device)}};
      run.outputs = {{"area", Tensor(static_cast<void*>(counter_), DType::i64, {}, device)}};
      if (with_mask)
        run.outputs.emplace_back(
            "mask", Tensor(static_cast<void*>(masks_[i]), DType::u8, {height, width}, device));
      all.push_back(std::move(run));
    }
    return all;
  }

  void add_program(const std::string& name, const Graph& graph, bool fusion, bool with_mask,
                   double bytes) {
    Row row = program_row(session_, name, graph, {.fusion = fusion}, runs(with_mask), bytes);
    add_checked(std::move(row), with_mask);
  }

  // A frame that comes from the host: upload, kernel and the download of eight bytes.
  void add_host_rows() {
    constexpr const char* names[] = {"frame in pinned memory to area, submit to done",
                                     "frame in pageable memory to area, submit to done"};
    Program program = compile(count_graph(), {.device = "cuda"});
    Shape shape = {height, width, 3};
    for (bool pinned : {true, false}) {
      Tensor frame =
          pinned ? program.allocate(DType::u8, shape) : Tensor::allocate(DType::u8, shape);
      session_.download(frame.data(), frames_.back(), 3 * pixels);
      Run run{{{"frame", frame}}, {{"area", program.allocate(DType::i64, {})}}};
      Row row = lane_row(session_, names[pinned ? 0 : 1], count_graph(), {}, run, count_bytes);
      row.check = [this, area = run.outputs[0].second, name = row.name] {
        std::int64_t given = std::exchange(*area.as<std::int64_t>(), -1);
        if (given != area_)
          throw Mismatch(fmt::format("{}: area {}, {} expected", name, given, area_));
      };
      harness_.add(std::move(row));
    }
  }

  void add_shapes(const std::string& family, const Graph& graph, bool with_mask, double bytes) {
    for (Row& row : shape_rows(session_, family, graph, runs(with_mask), bytes))
      add_checked(std::move(row), with_mask);
  }

  void add_checked(Row row, bool with_mask) {
    row.check = [this, name = row.name, with_mask] {
      if (with_mask) check_mask(name);
      check_area(name);
    };
    harness_.add(std::move(row));
  }

  void add_program_rows() {
    add_program("fuseline mask + count", mask_graph(limit), true, true, mask_bytes);
    add_program("fuseline count alone", count_graph(), true, false, count_bytes);
    add_shapes("mask + count by shape", mask_graph(limit), true, mask_bytes);
    add_shapes("count alone by shape", count_graph(), false, count_bytes);
    add_host_rows();
    add_program("unfused", mask_graph(limit), false, true, mask_bytes);
    std::vector<Run> hue = runs(true);
    for (Run& run : hue)  // in_range gives bool
      run.outputs[1].second = Tensor(run.outputs[1].second.data(), DType::bool_, {height, width},
                                     session_.device().id());
    harness_.add(
        program_row(session_, "fuseline hue range + count", hue_graph(), {}, hue, mask_bytes));
  }

  void check_mask(const std::string& name, std::int64_t allowed = 0) {
    std::vector<std::uint8_t> mask(pixels);
    session_.download(mask.data(), masks_.back(), pixels);
    session_.fill(masks_.back(), 0x55, pixels);  // so that the next row cannot pass with this one
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) wrong += mask[i] != mask_[i];
    if (wrong > allowed) throw Mismatch(fmt::format("{}: {} mask pixels", name, wrong));
  }

  void check_area(const std::string& name) {
    std::int64_t area = 0;
    session_.download(&area, counter_, sizeof area);
    session_.fill(counter_, 0x55, sizeof area);
    if (area != area_)
      throw Mismatch(fmt::format("{}: the area is {}, {} expected", name, area, area_));
  }

  Session& session_;
  Harness harness_;
  std::vector<char*> frames_, masks_, copies_;
  char* counter_ = nullptr;
  std::vector<std::uint8_t> mask_;
  std::int64_t area_ = 0;
};

}  // namespace

void run_mask(Session& session, const MeasureOptions& options) {
  MaskBench(session, options).run();
}

}  // namespace fuseline::bench
