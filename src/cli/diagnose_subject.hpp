// A pipeline of ours as the object of experiments in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/bench_runner.hpp"
#include "fuseline/graph.hpp"
#include "fuseline/program.hpp"
#include "ledger/diagnose_report.hpp"

namespace fuseline::cli {

// What a frame gives to kernels, and where they write.
struct FrameTensors {
  std::size_t graph = 0;
  TensorMap inputs, outputs;
  TensorMap nowhere;  // outputs of kernels that do nothing: nobody reads them
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::string object() const = 0;  // "picture a.jpg", "3 pictures on 2 threads"
  virtual std::string frame() const = 0;   // what is timed as a whole: "frame"
  virtual std::size_t items() const = 0;
  virtual int workers() const = 0;  // threads that take item after item
  virtual const std::vector<Graph>& graphs() const = 0;
  virtual const CompileOptions& options() const = 0;
  // What the host does with an item before its kernels, and behind them with what the last real
  // ones left. The tensors stay where they are until the worker's next item.
  virtual const FrameTensors& read(std::size_t item, int worker) = 0;
  virtual void write(std::size_t item, int worker) = 0;
  // The command on inputs of several sizes. Throws Error where there are none.
  virtual Sweep measure_sizes(BenchRunner& runner, const BenchPlan& plan) = 0;
  // The words of the command with another number of threads, writing nothing of the user's.
  virtual std::vector<std::string> on_threads(int threads) = 0;
};

// The threads that a process of ours takes by itself.
int processors();

// Runs commands on `points` in turn; `words` of each.
Sweep measure_points(std::vector<SizePoint> points,
                     const std::vector<std::vector<std::string>>& words, BenchRunner& runner,
                     const BenchPlan& plan);

// Whether the words are such a command: `mask` or `run`.
bool is_subject(const std::vector<std::string>& words);

// For `mask PICTURE...` and `run MODEL`. Throws Error, saying why, for any other command.
std::unique_ptr<Subject> subject_of(const std::vector<std::string>& words);
std::unique_ptr<Subject> mask_subject(const std::vector<std::string>& words);
std::unique_ptr<Subject> model_subject(const std::vector<std::string>& words);

}  // namespace fuseline::cli
