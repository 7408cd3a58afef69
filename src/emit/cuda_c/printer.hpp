// The printer behind print_cuda: one statement for a value of one lane; values of N lanes are
// collected into unrolled loops over the lanes. Memory is read before such a loop and written
// behind it, through arrays in the order of memory.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "emit/cuda_c/expression.hpp"
#include "emit/cuda_c/lane_loop.hpp"

namespace fuseline::cuda_c {

class Printer {
 public:
  explicit Printer(const loop::Kernel& kernel)
      : kernel_(kernel), facts_(value_facts(kernel)), names_(kernel.values) {}

  std::string run();

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<std::size_t>(indent_), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  // print.cpp: arguments, blocks, values of one lane
  void signature();
  void await_inputs(const loop::Inst& inst);
  void block(const loop::Block& block);
  void nested(const loop::Block& inner);
  void instruction(const loop::Inst& inst);
  void single(const loop::Inst& inst);
  void effect(const loop::Inst& inst);
  void atomic_add(const loop::Inst& inst);
  void for_range(const loop::Inst& inst);
  void if_then(const loop::Inst& inst);
  void define(loop::Id id, DType type, const std::string& text);
  std::string value_text(const loop::Inst& inst) const;

  const loop::Buffer& buffer(const loop::Inst& inst) const {
    return kernel_.buffers[static_cast<std::size_t>(inst.buffer)];
  }
  std::string buffer_name(std::size_t i) const;
  std::string param_name(std::size_t i) const;
  std::string address(const loop::Inst& inst) const;
  std::string element(const loop::Inst& inst) const;
  const std::string& arg(const loop::Inst& inst, std::size_t i) const {
    return names_[inst.args[i]];
  }

  // print_lanes.cpp: values of N lanes, loads and stores of several elements
  bool lane_value(const loop::Inst& inst);
  void load(const loop::Inst& inst);
  void store(const loop::Inst& inst);
  void store_one(const loop::Inst& inst);
  void scatter(const loop::Inst& inst);
  void across(const loop::Inst& inst);
  void add_step(int lanes, LaneStep step);
  void flush();
  void declare(const LaneStep& step, bool inside);
  std::string step_text(const LaneStep& step, bool inside) const;
  std::string value_step_text(const LaneStep& step, bool inside) const;
  void reduce(const loop::Inst& inst);
  void write_array(const loop::Inst& inst);
  void new_array(const loop::Inst& inst);
  std::string array_lane(const loop::Inst& inst, int part) const;
  int alignment(const loop::Inst& inst) const;

  const loop::Kernel& kernel_;
  ValueFacts facts_;
  std::vector<std::string> names_;  // the text of one lane of each value; `l` is the lane
  std::unordered_map<const loop::Inst*, std::string> arrays_;
  LaneLoop loop_;
  std::string out_;
  bool awaited_ = false;
  int indent_ = 0;
};

}  // namespace fuseline::cuda_c
