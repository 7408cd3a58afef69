// Grouping: which values are stored, and which of them one kernel computes together.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuse/call.hpp"

namespace fuseline {

// The iteration space of a root: its sizes, or its operand's if it is a reduction.
struct Space {
  Dims dims;  // without the unrolled axis
  int unroll = 1;
  std::vector<bool> reduced;

  bool has_reduction() const {
    return std::find(reduced.begin(), reduced.end(), true) != reduced.end();
  }
  Dims kept() const {
    Dims dims_kept;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (!reduced[i]) dims_kept.push_back(dims[i]);
    return dims_kept;
  }
};

// A range of a value, written to its place in a larger one: an operand of a concatenation, or
// what comes of one of its operands.
struct Part {
  ValueId whole;
  ValueId value;
  Dims from;    // the range of the value
  Dims sizes;   // likewise
  Dims starts;  // its place in the whole
};

// What one kernel or one call stores.
struct Group {
  Space space;
  std::vector<ValueId> points, reductions, results;
  std::set<std::size_t> before;  // groups that must run first
  bool call = false;             // a library's; nothing joins it
  bool is_whole = false;         // a concatenation whose parts other groups write
  std::vector<Part> parts = {};
};

class Grouping {
 public:
  Grouping(const Graph& graph, const PartitionOptions& options);

  const Graph& graph() const { return graph_; }
  const std::vector<Group>& groups() const { return groups_; }
  const std::map<ValueId, Call>& calls() const { return calls_; }  // by the value that they store
  const std::map<ValueId, std::size_t>& group_of() const { return group_of_; }  // of stored values
  const std::string& reason(ValueId root) const { return reasons_.at(root); }
  bool is_root(ValueId value) const { return reasons_.contains(value); }
  Space space_of(ValueId root) const;
  // Stored values that `root` reads through unstored ones.
  std::set<ValueId> stored_inputs(ValueId root) const;
  // Groups in an order in which they can run.
  std::vector<std::size_t> order() const;

 private:
  void count_consumers();
  void add_call_roots();
  void choose_roots();
  bool feeds_sampler(ValueId value) const;
  bool feeds_contraction(ValueId value) const;
  void add_root(ValueId value, std::string reason) { reasons_.emplace(value, std::move(reason)); }
  bool reaches(std::size_t from, std::size_t to) const;
  bool group_roots();
  void place(ValueId root);
  bool is_cut(ValueId root) const;
  std::set<ValueId> stored_for_part(const Part& part) const;
  void place_parts(ValueId root);
  void place_part(const Part& part, std::set<std::size_t>& writers);
  bool can_join(std::size_t g, const Space& space, const std::set<ValueId>& stored,
                const std::set<std::size_t>& before) const;
  bool is_result(std::size_t g, ValueId v) const;
  void join(std::size_t g, const Space& space, ValueId root, const std::set<std::size_t>& before);
  bool place_as_result(ValueId root, const std::set<ValueId>& stored,
                       const std::set<std::size_t>& before);
  bool only_elementwise(ValueId root) const;
  bool store_shared_values();

  const Node& node(ValueId value) const { return graph_.node_of(value); }
  bool is_reduction(ValueId value) const;

  const Graph& graph_;
  PartitionOptions options_;
  std::vector<bool> live_;  // by value
  std::vector<std::vector<ValueId>> consumers_;
  std::vector<int> cost_;
  std::map<ValueId, Call> calls_;
  std::set<ValueId> absorbed_;              // computed inside a call, never stored
  std::map<ValueId, std::string> reasons_;  // the roots, and why
  std::vector<Group> groups_;
  std::map<ValueId, std::size_t> group_of_;
  std::set<ValueId> too_large_;  // what reads them does so in another Region
};

bool is_leaf(OpCode op);

}  // namespace fuseline
