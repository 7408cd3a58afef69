// Scalar DAG: what one element of a value is, as hash-consed scalar arithmetic.
//
// The semantics of every pull-model operation are written in it (see ops.def), evaluate
// interprets it, and fusion joins the pieces of many operations into one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fuseline/dim.hpp"
#include "fuseline/dtype.hpp"
#include "graph/intrinsics.hpp"

namespace fuseline {

using ScalarId = std::uint32_t;

enum class ScalarKind : std::uint8_t {
  literal,  // bits
  coord,    // i64: coordinate `index` of the iteration space
  dim,      // i64: the value of `dim`
  read,     // element of source `index` at args (i64, one a dimension)
  param,    // scalar constant number `index`, known when the program is compiled
  apply,    // fn(args)
  select,   // args[0] ? args[1] : args[2]
  cast,     // args[0] as dtype; float to integer truncates and saturates, NaN becomes 0
  round,    // args[0] rounded to dtype where a value ends (parity mode; see DESIGN of modes)
  reduced,  // the result of reduction number `index` of a Region
};

struct ScalarNode {
  ScalarKind kind = ScalarKind::literal;
  DType dtype = DType::i64;
  Intrinsic fn = Intrinsic::add;
  int index = 0;
  std::uint64_t bits = 0;  // literal: see Number
  Dim dim;
  std::vector<ScalarId> args;
};

// A scalar while it is being computed: floats as double, signed integers as int64, unsigned ones
// and bool as uint64. All fields share the 64 bits of `bits`.
union Number {
  std::uint64_t bits;
  std::int64_t i;
  std::uint64_t u;
  double d;
};

// Inclusive bounds of an integer scalar.
struct Range {
  std::int64_t low;
  std::int64_t high;
};
// All values of an integer type (u64 is cut at the largest i64); bool is [0, 1].
Range full_range(DType dtype);

class ScalarDag {
 public:
  // A rewriting rule set: an equal, cheaper scalar, or nothing.
  using Rewrite = std::optional<ScalarId> (*)(ScalarDag&, const ScalarNode&);

  // Without rules only constants are folded and neutral elements dropped.
  explicit ScalarDag(Rewrite rewrite = nullptr) : rewrite_(rewrite) {}

  ScalarId add(ScalarNode node);
  const ScalarNode& operator[](ScalarId id) const { return nodes_[id]; }
  ScalarId size() const { return static_cast<ScalarId>(nodes_.size()); }

  ScalarId literal(DType dtype, double value);        // float types
  ScalarId integer(DType dtype, std::int64_t value);  // integers and bool
  ScalarId coord(int axis, const Dim& extent);
  ScalarId dim(const Dim& dim);
  ScalarId read(int source, DType dtype, std::vector<ScalarId> indices);
  ScalarId param(int position, DType dtype);
  ScalarId apply(Intrinsic fn, std::vector<ScalarId> args);
  ScalarId select(ScalarId condition, ScalarId a, ScalarId b);
  ScalarId cast(DType to, ScalarId a);
  ScalarId round(ScalarId a);
  ScalarId reduced(int position, DType dtype);

  bool is_literal(ScalarId id) const { return nodes_[id].kind == ScalarKind::literal; }
  std::optional<std::int64_t> integer_value(ScalarId id) const;  // of an integer literal
  // Depends on no coordinate, read or reduction: one value a launch.
  bool is_uniform(ScalarId id) const { return facts_[id].uniform; }
  Range range(ScalarId id) const { return facts_[id].range; }  // integers and bool
  std::string to_text(ScalarId id) const;                      // for people

 private:
  struct Facts {
    bool uniform;
    Range range;
  };
  Facts facts_of(const ScalarNode& node) const;
  std::optional<ScalarId> fold(const ScalarNode& node);
  std::optional<ScalarId> fold_neutral(const ScalarNode& node);

  Rewrite rewrite_;
  std::vector<ScalarNode> nodes_;
  std::vector<Facts> facts_;
  std::unordered_map<std::string, ScalarId> known_;
  std::unordered_map<int, Range> coord_ranges_;
};

// ---- arithmetic of the interpreter: the meaning of the intrinsics and casts

// fn on numbers of operand type `dtype`; floats in double precision, not rounded.
Number apply_intrinsic(Intrinsic fn, DType dtype, std::span<const Number> args);
// The same for many numbers; `b` is read for one operand too.
struct Lanes {
  const Number* a;
  const Number* b;
  Number* out;
  std::size_t count;
};
void apply_intrinsic(Intrinsic fn, DType dtype, Lanes lanes);
// Conversion with the rules of ScalarKind::cast. To a float type: rounded to it.
Number convert(Number value, DType from, DType to);
// Rounds a double to the values of a float type; integers are returned as they are.
Number round_to(Number value, DType dtype);
// Memory <-> Number.
Number load_number(const void* element, DType dtype);
void store_number(void* element, DType dtype, Number value);

// Where an interpreted DAG takes its leaves from.
struct ScalarLeaves {
  std::span<const std::int64_t> coords;
  std::function<Number(int source, std::span<const std::int64_t> indices)> read;
  std::function<Number(int position)> param;
  std::function<Number(int position)> reduced;
  const DimBindings* dims = nullptr;
};

// The nodes that `roots` need, arguments before users, ready to be stepped through.
struct ScalarStep {
  ScalarId id;
  ScalarKind kind;
  Intrinsic fn;
  DType dtype;
  DType from;  // of the first argument
  int index;
  ScalarId arg[3];
  bool rounds;   // an arithmetic result that is rounded to dtype
  bool uniform;  // the same at all coordinates
};
std::vector<ScalarStep> scalar_steps(const ScalarDag& dag, std::span<const ScalarId> roots,
                                     bool round_each);

// Computes `roots` for many coordinates; nodes that nothing needs are skipped.
class ScalarInterpreter {
 public:
  // round_each: every result is rounded to its dtype, as a kernel computes; otherwise floats
  // stay doubles until a cast or the end.
  ScalarInterpreter(const ScalarDag& dag, std::vector<ScalarId> roots, bool round_each);
  // The values of the roots. The span is valid until the next call. Sizes and params are taken
  // from the leaves of the first call; restart() has them read again.
  std::span<const Number> run(const ScalarLeaves& leaves);
  void restart() { started_ = false; }

 private:
  void step(const ScalarStep& s, const ScalarLeaves& leaves);

  const ScalarDag& dag_;
  std::vector<ScalarId> roots_;
  std::vector<ScalarStep> uniform_, varying_;
  std::vector<Number> values_;
  std::vector<Number> results_;
  std::vector<std::int64_t> indices_;
  bool started_ = false;
};

}  // namespace fuseline
