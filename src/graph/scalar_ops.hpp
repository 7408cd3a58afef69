// Scalar: a handle of one DAG node with arithmetic, in which the op table's semantics are written.
// Plain numbers take the type of the scalar that they meet.
#pragma once

#include <limits>
#include <type_traits>

#include "graph/scalar.hpp"

namespace fuseline {

class Scalar {
 public:
  Scalar(ScalarDag& dag, ScalarId id) : dag_(&dag), id_(id) {}
  ScalarDag& dag() const { return *dag_; }
  ScalarId id() const { return id_; }
  DType dtype() const { return (*dag_)[id_].dtype; }
  Scalar like(double value) const {
    if (is_float(dtype())) return {*dag_, dag_->literal(dtype(), value)};
    return {*dag_, dag_->integer(dtype(), static_cast<std::int64_t>(value))};
  }
  Scalar as(DType to) const { return {*dag_, dag_->cast(to, id_)}; }

 private:
  ScalarDag* dag_;
  ScalarId id_;
};

namespace scalar_ops {

inline Scalar apply1(Intrinsic fn, Scalar a) { return {a.dag(), a.dag().apply(fn, {a.id()})}; }
inline Scalar apply2(Intrinsic fn, Scalar a, Scalar b) {
  return {a.dag(), a.dag().apply(fn, {a.id(), b.id()})};
}

#define FUSELINE_SCALAR_BINARY(function, intrinsic)                                         \
  inline Scalar function(Scalar a, Scalar b) { return apply2(Intrinsic::intrinsic, a, b); } \
  inline Scalar function(Scalar a, double b) { return function(a, a.like(b)); }             \
  inline Scalar function(double a, Scalar b) { return function(b.like(a), b); }
FUSELINE_SCALAR_BINARY(operator+, add)
FUSELINE_SCALAR_BINARY(operator-, sub)
FUSELINE_SCALAR_BINARY(operator*, mul)
FUSELINE_SCALAR_BINARY(operator/, div)
FUSELINE_SCALAR_BINARY(operator%, rem)
FUSELINE_SCALAR_BINARY(operator&, bit_and)
FUSELINE_SCALAR_BINARY(operator|, bit_or)
FUSELINE_SCALAR_BINARY(operator^, bit_xor)
FUSELINE_SCALAR_BINARY(operator<<, shl)
FUSELINE_SCALAR_BINARY(operator>>, shr)
FUSELINE_SCALAR_BINARY(operator==, eq)
FUSELINE_SCALAR_BINARY(operator!=, ne)
FUSELINE_SCALAR_BINARY(operator<, lt)
FUSELINE_SCALAR_BINARY(operator<=, le)
FUSELINE_SCALAR_BINARY(min, min)
FUSELINE_SCALAR_BINARY(max, max)
FUSELINE_SCALAR_BINARY(pow, pow)
FUSELINE_SCALAR_BINARY(atan2, atan2)
#undef FUSELINE_SCALAR_BINARY

inline Scalar operator>(Scalar a, Scalar b) { return b < a; }
inline Scalar operator>(Scalar a, double b) { return a.like(b) < a; }
inline Scalar operator>=(Scalar a, Scalar b) { return b <= a; }
inline Scalar operator>=(Scalar a, double b) { return a.like(b) <= a; }
inline Scalar operator-(Scalar a) { return apply1(Intrinsic::neg, a); }
inline Scalar operator~(Scalar a) { return apply1(Intrinsic::bit_not, a); }

#define FUSELINE_SCALAR_UNARY(name) \
  inline Scalar name(Scalar a) { return apply1(Intrinsic::name, a); }
FUSELINE_SCALAR_UNARY(abs)
FUSELINE_SCALAR_UNARY(floor)
FUSELINE_SCALAR_UNARY(ceil)
FUSELINE_SCALAR_UNARY(trunc)
FUSELINE_SCALAR_UNARY(rint)
FUSELINE_SCALAR_UNARY(sqrt)
FUSELINE_SCALAR_UNARY(exp)
FUSELINE_SCALAR_UNARY(log)
FUSELINE_SCALAR_UNARY(expm1)
FUSELINE_SCALAR_UNARY(log1p)
FUSELINE_SCALAR_UNARY(sin)
FUSELINE_SCALAR_UNARY(cos)
FUSELINE_SCALAR_UNARY(tan)
FUSELINE_SCALAR_UNARY(asin)
FUSELINE_SCALAR_UNARY(acos)
FUSELINE_SCALAR_UNARY(atan)
FUSELINE_SCALAR_UNARY(sinh)
FUSELINE_SCALAR_UNARY(cosh)
FUSELINE_SCALAR_UNARY(tanh)
FUSELINE_SCALAR_UNARY(asinh)
FUSELINE_SCALAR_UNARY(acosh)
FUSELINE_SCALAR_UNARY(atanh)
FUSELINE_SCALAR_UNARY(erf)
#undef FUSELINE_SCALAR_UNARY

inline Scalar select(Scalar condition, Scalar a, Scalar b) {
  return {a.dag(), a.dag().select(condition.id(), a.id(), b.id())};
}
inline Scalar select(Scalar condition, Scalar a, double b) {
  return select(condition, a, a.like(b));
}
inline Scalar select(Scalar condition, double a, Scalar b) {
  return select(condition, b.like(a), b);
}
inline Scalar infinity(Scalar like) { return like.like(std::numeric_limits<double>::infinity()); }

}  // namespace scalar_ops
}  // namespace fuseline
