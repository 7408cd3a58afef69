// Reductions by their definition, and the error bound of float sums and products.
#include <algorithm>
#include <cmath>

#include "graph/evaluate_node.hpp"

namespace fuseline {
namespace {

bool is_nan(Number x, DType dtype) { return is_float(dtype) && x.d != x.d; }

}  // namespace

Reduction::Reduction(OpCode op, DType dtype)
    : dtype_(dtype), info_(reduction_info(op)), total_(identity_of(info_.combine, dtype)) {}

bool Reduction::wins(Number x) const {
  if (count_ == 0) return true;
  if (is_nan(total_, dtype_)) return false;
  if (is_nan(x, dtype_)) return true;
  return info_.combine == Intrinsic::max ? is_less(total_, x, dtype_) : is_less(x, total_, dtype_);
}

void Reduction::add(Number x) {
  if (info_.with_index) {
    if (wins(x)) {
      total_ = x;
      best_ = count_;
    }
  } else if (info_.combine == Intrinsic::add && is_float(dtype_)) {
    // Neumaier's summation: what the addition loses is added at the end.
    double sum = total_.d + x.d;
    lost_ +=
        std::fabs(total_.d) >= std::fabs(x.d) ? (total_.d - sum) + x.d : (x.d - sum) + total_.d;
    total_.d = sum;
  } else {
    Number args[] = {total_, x};
    total_ = apply_intrinsic(info_.combine, dtype_, args);
  }
  ++count_;
}

Number Reduction::total() const {
  if (info_.with_index) return {.i = best_};
  Number total = total_;
  if (is_float(dtype_) && std::isfinite(total.d)) total.d += lost_;
  return total;
}

Number Reduction::result() const { return info_.with_index ? total() : round_to(total(), dtype_); }

BoundedReduction::BoundedReduction(OpCode op, DType dtype)
    : dtype_(dtype),
      info_(reduction_info(op)),
      value_(op, dtype),
      low_(op, dtype),
      high_(op, dtype),
      product_(Bounded::exactly({.d = 1})) {}

void BoundedReduction::add(const Bounded& x) {
  value_.add(x.value);
  ++count_;
  exact_ = exact_ && x.is_exact();
  if (info_.with_index) {
    terms_.push_back(x);
    return;
  }
  low_.add(x.low);
  high_.add(x.high);
  if (is_float(dtype_)) return add_real(x);
  bool is_signed = is_signed_integer(dtype_);
  low_sum_ += is_signed ? static_cast<__int128>(x.low.i) : static_cast<__int128>(x.low.u);
  high_sum_ += is_signed ? static_cast<__int128>(x.high.i) : static_cast<__int128>(x.high.u);
}

void BoundedReduction::add_real(const Bounded& x) {
  anything_ = anything_ || is_anything(x, dtype_);
  nan_ = nan_ || (x.is_exact() && x.value.d != x.value.d);
  double size = std::max(std::fabs(x.low.d), std::fabs(x.high.d));
  if (std::isfinite(size)) magnitude_ += size;
  if (info_.combine != Intrinsic::mul) return;
  Bounded factors[] = {product_, x};
  product_ = apply_bounded(Intrinsic::mul, DType::f64, factors, true);
  if (!std::isfinite(size) || size == 0) return;
  (size > 1 ? growth_ : decay_) += std::log2(size);
}

// Where the winner may be: from the first to the last element that can reach the best sure value.
Bounded BoundedReduction::index_result() const {
  Bounded result = Bounded::exactly(value_.total());
  if (exact_ || count_ == 0) return result;
  bool max = info_.combine == Intrinsic::max;
  auto surely = [&](const Bounded& x) { return max ? x.low : x.high; };
  auto perhaps = [&](const Bounded& x) { return max ? x.high : x.low; };
  auto worse = [&](Number a, Number b) {
    return max ? is_less(a, b, dtype_) : is_less(b, a, dtype_);
  };
  Number best = surely(terms_[0]);
  bool open = false;
  for (const Bounded& x : terms_) {
    open = open || is_nan(x.value, dtype_) || (is_float(dtype_) && is_anything(x, dtype_));
    if (worse(best, surely(x))) best = surely(x);
  }
  result.low.i = open ? 0 : count_;
  result.high.i = open ? count_ - 1 : 0;
  for (std::int64_t i = 0; !open && i < count_; ++i) {
    if (worse(perhaps(terms_[static_cast<std::size_t>(i)]), best)) continue;
    result.low.i = std::min(result.low.i, i);
    result.high.i = i;
  }
  return result;
}

Bounded BoundedReduction::integer_result() const {
  Number value = value_.result();
  if (exact_) return Bounded::exactly(value);
  Bounded all = anything(value, dtype_);
  if (info_.combine == Intrinsic::mul) return all;
  if (info_.combine != Intrinsic::add) return {value, low_.result(), high_.result()};
  bool is_signed = is_signed_integer(dtype_);
  __int128 least = is_signed ? static_cast<__int128>(all.low.i) : static_cast<__int128>(all.low.u);
  __int128 most = is_signed ? static_cast<__int128>(all.high.i) : static_cast<__int128>(all.high.u);
  if (low_sum_ < least || high_sum_ > most) return all;  // it may wrap
  return {value,
          {.u = static_cast<std::uint64_t>(low_sum_)},
          {.u = static_cast<std::uint64_t>(high_sum_)}};
}

// What rounding may add to a sum or product of more than one term; infinity where a partial result
// may leave the computing type.
double BoundedReduction::error() const {
  DType computing = accumulator_type(dtype_);
  int top = computing == DType::f64 ? 1023 : 127;
  double relative = reduction_depth(count_) * ulp_at(1, computing);
  if (info_.combine == Intrinsic::add)
    return magnitude_ < std::ldexp(1.0, top) ? relative * magnitude_ : HUGE_VAL;
  if (growth_ > top) return HUGE_VAL;
  double size = std::max(std::fabs(product_.low.d), std::fabs(product_.high.d));
  bool may_vanish = decay_ < 1 - top;  // a partial product may lose digits before others grow it
  double absolute = may_vanish ? std::exp2(growth_ + 1 - top) * relative : 0;
  return relative * size + absolute;
}

Bounded BoundedReduction::real_result() const {
  Number total = value_.total();
  bool chooses = info_.combine == Intrinsic::min || info_.combine == Intrinsic::max;
  if (nan_ || (exact_ && (chooses || count_ < 2 || !std::isfinite(total.d))))
    return finish_bounded(Bounded::exactly(total), dtype_);
  if (anything_ || total.d != total.d) return anything(round_to(total, dtype_), dtype_);
  Bounded sum{total, low_.total(), high_.total()};
  if (info_.combine == Intrinsic::mul) sum = {total, product_.low, product_.high};
  if (!chooses && count_ > 1) {
    double slack = error();
    sum.low.d -= slack;
    sum.high.d += slack;
  }
  if (sum.low.d != sum.low.d || sum.high.d != sum.high.d) return anything(total, dtype_);
  return finish_bounded(sum, dtype_);
}

Bounded BoundedReduction::result() const {
  if (info_.with_index) return index_result();
  return is_float(dtype_) ? real_result() : integer_result();
}

}  // namespace fuseline
