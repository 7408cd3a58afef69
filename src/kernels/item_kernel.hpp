// ItemKernel: a kernel of independent items, one a thread on CUDA and one a block on CPUs.
#pragma once

#include <functional>
#include <string>

#include "fuse/loop_builder.hpp"
#include "kernels/schedule.hpp"

namespace fuseline::kernels {

using loop::Id;

inline constexpr Argument result_argument{Argument::Kind::result, 0};
inline Argument operand_argument(std::size_t i) { return {Argument::Kind::operand, i}; }
inline Argument scratch_argument(std::size_t i) { return {Argument::Kind::scratch, i}; }

inline bool is_gpu(const Target& target) { return target.kind == DeviceKind::cuda; }
inline std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class ItemKernel {
 public:
  static constexpr int gpu_threads = 128;

  ItemKernel(std::string name, const Target& target);

  loop::Builder& builder() { return builder_; }
  int read(std::string name, DType dtype, Argument from);
  int write(std::string name, DType dtype, Argument to);
  // A parameter of this value.
  Id size(std::string name, std::int64_t value);
  Id number(std::int64_t value) { return builder_.integer(DType::i64, value); }

  // The items; `body` gets the number of its own.
  void each_item(std::int64_t items, const std::function<void(Id)>& body);
  // Elements 0 .. count - 1, several an item on CPUs.
  void each_element(std::int64_t count, const std::function<void(Id)>& body);
  // All threads of a block share one item; threads() tells them apart.
  void each_block(std::int64_t items, const std::function<void(Id)>& body);
  Id thread();   // i64: its number in the block
  Id threads();  // i64: how many a block has
  void barrier();

  Launch finish();

 private:
  bool gpu_;
  std::shared_ptr<loop::Kernel> kernel_;
  loop::Builder builder_;
  Launch launch_;
};

// The offset of the row-major element `linear` of a strided tensor.
Id offset_of(ItemKernel& k, const std::string& name, const Operand& tensor, Id linear);

// Rows along one axis of a tensor.
class Rows {
 public:
  Rows(ItemKernel& k, std::string name, const Operand& tensor, std::size_t axis);
  // Once a row, where it is used.
  void start(Id row);
  Id at(Id place);  // the offset of the row's element

 private:
  ItemKernel& k_;
  std::string name_;
  Operand rest_;  // the other axes
  Id stride_, base_ = loop::no_id;
};

}  // namespace fuseline::kernels
