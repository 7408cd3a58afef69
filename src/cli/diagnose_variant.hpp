// A subject's pipeline on one device: its programs, and a Lane for each thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/diagnose_subject.hpp"
#include "cli/kernel_clock.hpp"
#include "program/program_impl.hpp"

namespace fuseline::cli {

// The shapes that real kernels are launched with, by kernel; null kernels take the same.
using TakenShapes = std::map<std::string, LaunchShape>;

class Variant {
 public:
  // Notes the shapes it takes where `notes`, else takes those that were noted.
  Variant(Device& device, const Subject& subject, bool fusion, TakenShapes& shapes, bool notes);

  // May be called for several workers at once.
  Lane::Impl& lane(const FrameTensors& frame, int worker);
  void run(const FrameTensors& frame, int worker, bool null = false);
  // Kernels of the worker's Lanes are timed one by one from now on; nothing is recorded meanwhile.
  void observe(KernelClock* clock, int worker);
  // The median of a few runs behind one that meets what others left in the caches; ms.
  double burst(const FrameTensors& frame, bool null);
  // Every buffer of a launch counts once: what it must read or write at least.
  Traffic traffic(const FrameTensors& frame);

 private:
  std::vector<std::shared_ptr<Program::Impl>> programs_;
  std::vector<std::vector<std::unique_ptr<Lane::Impl>>> lanes_;  // by worker, by program
  std::vector<KernelClock*> clocks_;
};

}  // namespace fuseline::cli
