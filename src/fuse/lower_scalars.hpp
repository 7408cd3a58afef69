// Scalars of a Region as Loop IR values, at the place in the loop nest where they are asked for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fuse/loop_builder.hpp"
#include "fuse/loop_ops.hpp"
#include "fuse/lower.hpp"

namespace fuseline {

using loop::register_type;

class ScalarLowering {
 public:
  // `params` holds the parameters that an earlier pass found; they are read at the kernel's start.
  ScalarLowering(const KernelPlan& plan, loop::Builder& builder, std::vector<ParamArgument>& params,
                 const std::vector<int>& source_buffers);

  // Values are remembered until the block in which they were made ends.
  void enter() { frames_.emplace_back(); }
  void leave() { frames_.pop_back(); }

  DType index_type() const { return plan_.guards.index32 ? DType::i32 : DType::i64; }
  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }
  void set_coordinate(int axis, loop::Id id) { coordinates_[static_cast<std::size_t>(axis)] = id; }
  loop::Id coordinate(int axis) const { return coordinates_[static_cast<std::size_t>(axis)]; }
  void set_reduced(int position, loop::Id id) { reduced_[position] = id; }

  // 1 lane where the scalar does not change along the vector axis, else lanes().
  loop::Id value(ScalarId id);
  // Always lanes().
  loop::Id wide(ScalarId id) { return builder_.splat(value(id), lanes_); }
  bool varies(ScalarId id) const { return varies_[id]; }
  // Makes now what the roots need and what does not change along the vector axis.
  void hoist(const std::vector<ScalarId>& roots);
  void hoist_base(const Access& access) { base(access); }

  loop::Id size(const Dim& dim);  // of index type
  loop::Id index(std::int64_t value) { return builder_.integer(index_type(), value); }
  loop::Id address(const Access& access);  // of lane 0, at the current coordinates

 private:
  struct Frame {
    std::map<ScalarId, loop::Id> values;
    std::map<std::string, loop::Id> named;  // parameters, bases, groups
    std::map<std::string, std::vector<loop::Id>> groups;
  };

  void find_varying();
  void find_narrow();
  DType type_of(ScalarId id) const;  // of its register
  bool read_varies(ScalarId id) const;
  loop::Id param(ParamArgument argument);
  loop::Id* known(const std::string& name);
  loop::Id make(ScalarId id);
  bool is_branch(ScalarId id) const;
  loop::Id make_branch(ScalarId id);
  loop::Id make_literal(ScalarId id);
  loop::Id make_coordinate(ScalarId id);
  loop::Id make_apply(ScalarId id);
  loop::Id apply(const ScalarNode& node, const std::vector<loop::Id>& args);
  loop::Id make_integer_division(const ScalarNode& node, loop::Id a, loop::Id b);
  loop::Id make_shift(const ScalarNode& node, loop::Id a, loop::Id b);
  loop::Id make_cast(ScalarId id);
  loop::Id make_read(ScalarId id);
  loop::Id make_affine_read(ScalarId id, const Access& access);
  loop::Id make_group_read(int source, const Access& access);
  loop::Id make_general_read(ScalarId id);
  loop::Id base(const Access& access);
  bool starts_at_zero(const Access& access) const;
  std::vector<loop::Id> same_lanes(const std::vector<ScalarId>& ids);
  int align_of(DType dtype) const;
  bool streaming() const;

  const KernelPlan& plan_;
  const Region& region_;
  loop::Builder& builder_;
  std::vector<ParamArgument>& params_;
  const std::vector<int>& source_buffers_;
  std::vector<bool> varies_;
  std::vector<bool> narrow_;  // held in 32 bits though their type is i64
  std::vector<Frame> frames_;
  std::vector<loop::Id> coordinates_;
  std::map<int, loop::Id> reduced_;
  int lanes_ = 1;
};

}  // namespace fuseline
