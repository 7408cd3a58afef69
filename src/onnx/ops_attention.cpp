// Attention and what goes with it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// [B, S, heads * D] as [B, heads, S, D].
Value split_heads(const Value& x, std::int64_t heads) {
  const Dims d = x.dims();
  if (heads < 1) fail("the number of heads must be given for operands with 3 axes");
  return transpose(reshape(x, {d.at(0), d.at(1), heads, floor_div(d.at(2), Dim(heads))}),
                   {0, 2, 1, 3});
}

Value join_heads(const Value& x) {
  const Dims d = x.dims();
  return reshape(transpose(x, {0, 2, 1, 3}), {d[0], d[2], d[1] * d[3]});
}

struct Heads {
  Value q, k, v;
  bool packed;  // operands with 3 axes
};

Heads heads_of(Context& c) {
  Heads h{c.in(0), c.in(1), c.in(2), c.rank(0) == 3};
  if (h.packed) {
    std::int64_t kv = c.integer("kv_num_heads", 0);
    h.q = split_heads(h.q, c.integer("q_num_heads", 0));
    h.k = split_heads(h.k, kv);
    h.v = split_heads(h.v, kv);
  }
  if (h.q.dims().size() != 4 || h.k.dims().size() != 4 || h.v.dims().size() != 4)
    fail("query, key and value need 3 or 4 axes");
  if (c.has(4)) h.k = concat({c.in(4), h.k}, 2);
  if (c.has(5)) h.v = concat({c.in(5), h.v}, 2);
  return h;
}

// [B, heads of the query, S, D] as [B, heads of the key, queries a key, S, D].
Value grouped(const Value& x, const Dim& kv_heads) {
  const Dims d = x.dims();
  return reshape(x, {d[0], kv_heads, floor_div(d[1], kv_heads), d[2], d[3]});
}

Value ungrouped(const Value& x) {
  const Dims d = x.dims();
  return reshape(x, {d[0], d[1] * d[2], d[3], d[4]});
}

// Whether query i may see key j, as far as positions decide.
class Visible {
 public:
  Visible(Context& c, const Value& scores, const Dim& past)
      : graph_(c.graph),
        row_(iota(graph_, {scores.dims()[2], Dim(1)}, 0, DType::i64)),
        column_(iota(graph_, {Dim(1), scores.dims()[3]}, 1, DType::i64)),
        position_(row_ + size_value(graph_, past)) {
    if (c.has(6)) {
      Value valid = reshape(cast(c.in(6), DType::i64), {c.in(6).dims().at(0), 1, 1, 1});
      add(column_ < valid);
      if (!c.has(4)) position_ = row_ + (valid - size_value(graph_, scores.dims()[2]));
    }
    if (c.integer("is_causal", 0)) add(column_ <= position_);
    std::int64_t left = c.integer("left_window_size", -1);
    std::int64_t right = c.integer("right_window_size", -1);
    if (left >= 0) add(column_ >= position_ - left);
    if (right >= 0) add(column_ <= position_ + right);
  }
  const std::optional<Value>& mask() const { return mask_; }

 private:
  void add(const Value& rule) { mask_ = mask_ ? *mask_ & rule : rule; }

  Graph& graph_;
  Value row_, column_, position_;
  std::optional<Value> mask_;
};

Value hide(const Value& scores, const Value& allowed) {
  return where(allowed, scores, number(scores, -infinity));
}

Value with_mask(Context& c, const Value& scores) {
  Value mask = c.in(3);
  const Dim total = scores.dims()[3], given = mask.dims().back();
  bool flags = is_bool(mask.dtype());
  if (given != total) {
    Dims before(mask.dims().size(), Dim(0)), after = before;
    after.back() = total - given;
    mask = pad(mask, before, after, "constant", flags ? 0 : -infinity);
  }
  return flags ? hide(scores, mask) : scores + cast(mask, scores.dtype());
}

// Rows without any visible key become 0.
Value guarded_softmax(const Value& x) {
  Value top = reduce_max(x, {-1}, true);
  Value e = exp(x - where(top == -infinity, number(top, 0), top));
  Value sum = reduce_sum(e, {-1}, true);
  return e / where(sum == 0, number(sum, 1), sum);
}

Value softmax_in(Context& c, const Value& scores) {
  auto precision = static_cast<int>(c.integer("softmax_precision", 0));
  if (!precision) return guarded_softmax(scores);
  DType work = held_as(precision);
  if (work == DType::f64) return cast(guarded_softmax(cast(scores, work)), scores.dtype());
  return guarded_softmax(scores);  // narrower types would only lose digits
}

void attention(Context& c) {
  DType type = c.in(0).dtype(), wide = wide_type(type);
  Dim past = c.has(4) ? c.in(4).dims().at(2) : Dim(0);
  Heads h = heads_of(c);
  c.out(1, h.k);
  c.out(2, h.v);
  const Dim kv_heads = h.k.dims()[1], depth = h.q.dims()[3];
  double scale = c.real("scale", 0);
  Value q = grouped(cast(h.q, wide), kv_heads);
  if (!c.has_attribute("scale") && !depth.is_constant()) fail("the size of a head must be known");
  if (!c.has_attribute("scale")) scale = 1 / std::sqrt(static_cast<double>(depth.constant()));
  Value keys = transpose(unsqueeze(cast(h.k, wide), {2}), {0, 1, 2, 4, 3});
  Value scores = ungrouped(matmul(q * std::sqrt(scale), keys * std::sqrt(scale)));
  std::vector<Value> stages = {scores};
  double cap = c.real("softcap", 0);
  if (cap > 0) scores = tanh(scores / cap) * cap;
  stages.push_back(scores);
  if (c.has(3)) scores = with_mask(c, scores);
  Visible visible(c, scores, past);
  if (visible.mask()) scores = hide(scores, *visible.mask());
  stages.push_back(scores);
  Value weights = softmax_in(c, scores);
  stages.push_back(weights);
  std::int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) fail("attribute qk_matmul_output_mode: {}", mode);
  c.out(3, cast(stages[static_cast<std::size_t>(mode)], type));
  Value y = ungrouped(matmul(grouped(weights, kv_heads), unsqueeze(cast(h.v, wide), {2})));
  y = cast(y, type);
  c.out(0, h.packed ? join_heads(y) : y);
}

// Every `step`-th element of the last axis from a start.
Value every(const Value& x, std::int64_t start, std::int64_t step, const Dim& count) {
  Dims starts(x.dims().size(), Dim(0));
  std::vector<std::int64_t> steps(x.dims().size(), 1);
  starts.back() = start;
  steps.back() = step;
  return slice(x, starts, replaced(x.dims(), x.dims().size() - 1, count), steps);
}

// The rows of a cache for each token, beside the heads.
Value rows_of_cache(Context& c, std::size_t i) {
  Value cache = c.has(3) ? gather(c.in(i), c.in(3), 0) : c.in(i);
  return unsqueeze(cache, {2});
}

void rotary_embedding(Context& c) {
  Value x = c.in(0);
  const Dims original = x.dims();
  bool packed = original.size() == 3;
  std::int64_t heads = c.integer("num_heads", 0);
  if (packed && heads < 1) fail("attribute num_heads: {}", heads);
  // [B, S, heads, D]
  x = packed ? reshape(x, {original[0], original[1], heads, floor_div(original[2], Dim(heads))})
             : transpose(x, {0, 2, 1, 3});
  const Dims dims = x.dims();
  Dim turned = c.integer("rotary_embedding_dim", 0);
  if (turned == Dim(0)) turned = dims[3];
  Dim half = floor_div(turned, Dim(2));
  bool interleaved = c.integer("interleaved", 0) != 0;
  std::size_t last = 3;
  Value a = interleaved ? every(x, 0, 2, half) : part(x, last, 0, half);
  Value b = interleaved ? every(x, 1, 2, half) : part(x, last, half, half);
  Value cosine = rows_of_cache(c, 1), sine = rows_of_cache(c, 2);
  Value real = a * cosine - b * sine, imaginary = a * sine + b * cosine;
  Value y = interleaved ? reshape(concat({unsqueeze(real, {4}), unsqueeze(imaginary, {4})}, 4),
                                  replaced(dims, last, half * 2))
                        : concat({real, imaginary}, 3);
  if (turned != dims[3]) y = concat({y, part(x, last, turned, dims[3] - turned)}, 3);
  c.out(packed ? reshape(y, original) : transpose(y, {0, 2, 1, 3}));
}

constexpr OperatorRow rows[] = {
    {"Attention", 23, attention},
    {"RotaryEmbedding", 23, rotary_embedding},
};

}  // namespace

std::span<const OperatorRow> attention_operators() { return rows; }

}  // namespace fuseline::onnx
