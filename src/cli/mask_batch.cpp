// One picture with compilation behind its decoding; many pictures on all threads.
#include "cli/mask_batch.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>

#include "base/fail.hpp"
#include "base/path_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/stage.hpp"
#include "program/device_registry.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty()) return;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder))
    fail("{}: the folder cannot be made: {}", path_text(folder), error.message());
}

Image decode(const MaskTask& task, const BatchOptions& options) {
  Stage stage("decode");
  return read_image(task.picture, options.read);
}

std::int64_t run_kernels(MaskEngine& engine, const Image& picture, const Tensor& mask) {
  Stage stage("kernels");
  return engine.run(picture, mask);
}

// Runs one task once its picture is decoded. `mask`: one made before, or none.
void finish(MaskEngine& engine, const Image& picture, Tensor mask, const BatchOptions& options,
            MaskResult& result) {
  stop_if_interrupted();
  result.width = picture.width();
  result.height = picture.height();
  if (mask.shape() != Shape{picture.height(), picture.width()})
    mask = engine.make_mask(picture.height(), picture.width());
  result.area = run_kernels(engine, picture, mask);
  stop_if_interrupted();
  if (!mask) return;
  Stage stage("encode");
  write_mask(result.task.mask, mask, options.one_bit);
}

// Turns the user's errors into a failed result; passes on what ends the whole run.
template <class Action>
MaskResult guarded(const MaskTask& task, Action action) {
  MaskResult result;
  result.task = task;
  result.error = task.problem;
  if (result.failed()) return result;
  try {
    action(result);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    result.error = error.what();
    result.kind = error.kind();
  }
  return result;
}

// Limits what is decoded at the same time to half of the machine's memory; a picture that needs
// more than that runs alone.
class MemoryGate {
 public:
  MemoryGate() {
    budget_ = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 2;
  }
  void enter(std::int64_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return used_ == 0 || used_ + bytes <= budget_; });
    used_ += bytes;
  }
  void leave(std::int64_t bytes) {
    std::lock_guard lock(mutex_);
    used_ -= bytes;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t budget_ = 0;
  std::int64_t used_ = 0;
};

class Admission {
 public:
  Admission(MemoryGate& gate, const ImageInfo& picture)
      // The pixels twice, since turning them upright needs a second copy, and the mask.
      : gate_(gate), bytes_(picture.width * picture.height * (2 * picture.channels + 1)) {
    gate_.enter(bytes_);
  }
  ~Admission() { gate_.leave(bytes_); }
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

 private:
  MemoryGate& gate_;
  std::int64_t bytes_;
};

// Reports results in the order of their tasks, whatever the order in which they come.
class InOrder {
 public:
  InOrder(std::size_t count, const OnResult& on_result) : results_(count), on_result_(on_result) {}
  void put(std::size_t position, MaskResult result) {
    std::lock_guard lock(mutex_);
    results_[position] = std::move(result);
    for (; next_ < results_.size() && results_[next_]; ++next_) report();
  }
  // The run has ended early: reports what came behind a gap.
  void put_rest() {
    for (; next_ < results_.size(); ++next_)
      if (results_[next_]) report();
  }

 private:
  void report() {
    on_result_(*results_[next_]);
    results_[next_].reset();
  }
  std::mutex mutex_;
  std::vector<std::optional<MaskResult>> results_;
  std::size_t next_ = 0;
  const OnResult& on_result_;
};

// What can be done before the picture is decoded: its program and its mask.
Tensor prepare(MaskEngine& engine, const MaskTask& task, const BatchOptions& options) {
  ImageInfo info;
  try {
    info = probe_image(task.picture, options.read);
  } catch (const Error&) {
    return {};  // decoding it will tell the same
  }
  Stage stage("load kernels");
  engine.prepare(info);
  Tensor mask = engine.make_mask(info.height, info.width);
  // Now, so that the kernel meets no page faults.
  if (mask) std::memset(mask.data(), 0, static_cast<std::size_t>(mask.bytes()));
  return mask;
}

// The program is compiled or loaded while the picture is decoded.
MaskResult run_one(MaskEngine& engine, const MaskTask& task, const BatchOptions& options) {
  return guarded(task, [&](MaskResult& result) {
    auto ready = std::async(std::launch::async, prepare, std::ref(engine), task, options);
    std::exception_ptr unreadable;
    Image picture;
    try {
      picture = decode(task, options);
    } catch (const Error&) {
      unreadable = std::current_exception();
    }
    Tensor mask = ready.get();  // a missing device goes before a damaged picture
    if (unreadable) std::rethrow_exception(unreadable);
    finish(engine, picture, std::move(mask), options, result);
  });
}

}  // namespace

double MaskResult::fraction() const {
  double pixels = static_cast<double>(width) * static_cast<double>(height);
  return pixels > 0 ? static_cast<double>(area) / pixels : 0;
}

void write_mask(const fs::path& path, const Tensor& mask, bool one_bit) {
  make_folder(path.parent_path());
  if (one_bit)
    write_png_bits(path, mask);
  else
    write_png(path, mask);
}

void run_masks(MaskEngine& engine, const std::vector<MaskTask>& tasks, const BatchOptions& options,
               const OnResult& on_result) {
  if (tasks.size() == 1) {
    on_result(run_one(engine, tasks.front(), options));
    stop_if_interrupted();
    return;
  }
  engine.program(3);  // a missing device ends the run before it begins
  int budget = open_device("cpu").target().processors;
  int workers = std::min(budget, static_cast<int>(std::min<std::size_t>(tasks.size(), 4096)));
  MemoryGate gate;
  InOrder results(tasks.size(), on_result);
  std::atomic<std::size_t> next{0};
  std::exception_ptr fault;
  // A team of OpenMP, so that kernels, which look for one, stay on the thread of their picture.
#pragma omp parallel num_threads(workers)
  try {
    for (std::size_t i = next++; i < tasks.size() && !interrupted(); i = next++)
      results.put(i, guarded(tasks[i], [&](MaskResult& result) {
                    Admission admission(gate, probe_image(tasks[i].picture, options.read));
                    finish(engine, decode(tasks[i], options), {}, options, result);
                  }));
  } catch (...) {
    next = tasks.size();
#pragma omp critical
    if (!fault) fault = std::current_exception();
  }
  results.put_rest();
  if (fault) std::rethrow_exception(fault);
  stop_if_interrupted();
}

}  // namespace fuseline::cli
