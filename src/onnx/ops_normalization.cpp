// Softmax and its kin, normalisations, losses.
#include <algorithm>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"
#include "onnx/reduce_tools.hpp"

namespace fuseline::onnx {

Value softmax_along(const Value& x, std::size_t axis) {
  auto at = static_cast<std::int64_t>(axis);
  Value e = exp(x - reduce_max(x, {at}, true));
  return e / reduce_sum(e, {at}, true);
}

Value log_softmax_along(const Value& x, std::size_t axis) {
  auto at = static_cast<std::int64_t>(axis);
  Value shifted = x - reduce_max(x, {at}, true);
  return shifted - log(reduce_sum(exp(shifted), {at}, true));
}

namespace {

using Along = Value (*)(const Value&, std::size_t);

Value hardmax_along(const Value& x, std::size_t axis) {
  Value first = arg_max(x, static_cast<int>(axis), true);
  Value at = iota(x.graph(), x.dims(), static_cast<int>(axis), DType::i64);
  return cast(at == first, x.dtype());
}

// Before opset 13 all axes from the given one on are taken together.
template <Along along>
void softmax_like(Context& c) {
  Value x = c.in(0);
  const Dims dims = x.dims();
  DType wide = wide_type(x.dtype());
  if (c.opset >= 13) {
    std::size_t axis = absolute_axis(c.integer("axis", -1), dims.size());
    return c.out(cast(along(cast(x, wide), axis), x.dtype()));
  }
  std::size_t axis = absolute_axis(c.integer("axis", 1), dims.size());
  Value rows = reshape(x, {product(dims, 0, axis), product(dims, axis, dims.size())});
  c.out(reshape(cast(along(cast(rows, wide), 1), x.dtype()), dims));
}

// A list over axis 1 of something with `rank` axes.
Value per_channel(const Value& list, std::size_t rank) {
  Dims dims(rank, Dim(1));
  dims[1] = list.dims().at(0);
  return reshape(list, dims);
}

std::vector<std::int64_t> axes_from(std::size_t first, std::size_t rank) {
  std::vector<std::int64_t> axes;
  for (std::size_t k = first; k < rank; ++k) axes.push_back(static_cast<std::int64_t>(k));
  return axes;
}

// (x - mean) / sqrt(variance + epsilon) over some axes.
struct Normalized {
  Value value, mean, inverse;
};

Normalized normalize(const Value& x, const std::vector<std::int64_t>& axes, double epsilon) {
  Value mean = mean_over(x, axes, true);
  Value centred = x - mean;
  Value inverse = reciprocal(sqrt(mean_over(centred * centred, axes, true) + epsilon));
  return {centred * inverse, mean, inverse};
}

void batch_normalization(Context& c) {
  Value x = c.in(0);
  std::size_t rank = x.dims().size();
  if (rank < 2) fail("an operand with channels is needed, not {}", to_string(x.dims()));
  double epsilon = c.real("epsilon", 1e-5);
  DType wide = wide_type(x.dtype());
  auto channel = [&](std::size_t i) { return per_channel(cast(c.in(i), wide), rank); };
  Value w = cast(x, wide);
  bool training = c.opset >= 14 && c.integer("training_mode", 0) != 0;
  Value mean = channel(3), variance = channel(4);
  if (training) {
    std::vector<std::int64_t> axes = axes_from(2, rank);
    axes.insert(axes.begin(), 0);
    Value batch_mean = mean_over(w, axes, true), centred = w - batch_mean;
    Value batch_variance = mean_over(centred * centred, axes, true);
    double momentum = c.real("momentum", 0.9);
    auto running = [&](const Value& old, const Value& now, std::size_t i) {
      Value next = old * momentum + now * (1 - momentum);
      return cast(reshape(next, c.in(i).dims()), c.in(i).dtype());
    };
    c.out(1, running(mean, batch_mean, 3));
    c.out(2, running(variance, batch_variance, 4));
    mean = batch_mean;
    variance = batch_variance;
  }
  Value factor = channel(1) / sqrt(variance + epsilon);
  c.out(0, cast((w - mean) * factor + channel(2), x.dtype()));
}

void instance_normalization(Context& c) {
  Value x = c.in(0);
  std::size_t rank = x.dims().size();
  DType wide = wide_type(x.dtype());
  Value y = normalize(cast(x, wide), axes_from(2, rank), c.real("epsilon", 1e-5)).value;
  Value scaled =
      y * per_channel(cast(c.in(1), wide), rank) + per_channel(cast(c.in(2), wide), rank);
  c.out(cast(scaled, x.dtype()));
}

void layer_normalization(Context& c) {
  Value x = c.in(0);
  std::size_t axis = absolute_axis(c.integer("axis", -1), x.dims().size());
  auto stash = static_cast<int>(c.integer("stash_type", 1));
  DType wide = is_float(x.dtype()) && x.dtype() == DType::f64 ? DType::f64 : held_as(stash);
  Normalized n =
      normalize(cast(x, wide), axes_from(axis, x.dims().size()), c.real("epsilon", 1e-5));
  Value y = cast(n.value, wide) * cast(c.in(1), wide);
  if (c.has(2)) y = y + cast(c.in(2), wide);
  c.out(0, cast(y, x.dtype()));
  c.out(1, cast(n.mean, held_as(stash)));
  c.out(2, cast(n.inverse, held_as(stash)));
}

void rms_normalization(Context& c) {
  Value x = c.in(0);
  std::size_t axis = absolute_axis(c.integer("axis", -1), x.dims().size());
  DType wide =
      x.dtype() == DType::f64 ? DType::f64 : held_as(static_cast<int>(c.integer("stash_type", 1)));
  Value w = cast(x, wide);
  Value square = mean_over(w * w, axes_from(axis, x.dims().size()), true);
  Value y = w / sqrt(square + c.real("epsilon", 1e-5));
  c.out(cast(cast(y, wide) * cast(c.in(1), wide), x.dtype()));
}

void group_normalization(Context& c) {
  Value x = c.in(0);
  const Dims dims = x.dims();
  Dim groups = c.integer("num_groups");
  DType wide = wide_type(x.dtype());
  Dims split = {dims.at(0), groups, floor_div(dims.at(1), groups)};
  split.insert(split.end(), dims.begin() + 2, dims.end());
  Value y =
      normalize(reshape(cast(x, wide), split), axes_from(2, split.size()), c.real("epsilon", 1e-5))
          .value;
  // Up to opset 20 there was one scale for a group, from 21 on one for a channel.
  bool by_group = c.opset < 21;
  auto shaped = [&](std::size_t i) {
    Dims line(split.size(), Dim(1));
    line[1] = groups;
    if (!by_group) line[2] = split[2];
    return reshape(cast(c.in(i), wide), line);
  };
  c.out(cast(reshape(y * shaped(1) + shaped(2), dims), x.dtype()));
}

void lp_normalization(Context& c) {
  Value x = c.in(0);
  auto axis = static_cast<std::int64_t>(absolute_axis(c.integer("axis", -1), x.dims().size()));
  std::int64_t p = c.integer("p", 2);
  if (p != 1 && p != 2) fail("attribute p: {}; use 1 or 2", p);
  Value norm = p == 1 ? reduce_sum(abs(x), {axis}, true) : sqrt(reduce_sum(x * x, {axis}, true));
  c.out(where(norm == 0, number(x, 0), x / norm));
}

void mean_variance_normalization(Context& c) {
  Value x = c.in(0);
  std::vector<std::int64_t> axes =
      c.has_attribute("axes") ? c.integer_list("axes") : std::vector<std::int64_t>{0, 2, 3};
  axes = absolute_axes(axes, x.dims().size());
  DType wide = wide_type(x.dtype());
  Value w = cast(x, wide), mean = mean_over(w, axes, true);
  Value deviation = sqrt(mean_over(w * w, axes, true) - mean * mean);
  c.out(cast((w - mean) / (deviation + 1e-9), x.dtype()));
}

// Squares of neighbouring channels.
void lrn(Context& c) {
  Value x = c.in(0);
  const Dims dims = x.dims();
  std::int64_t size = c.integer("size");
  if (size < 1) fail("attribute size: {}", size);
  Dims rows = {dims.at(0), product(dims, 2, dims.size()), dims.at(1)};
  Value channels_last = transpose(reshape(x, {rows[0], rows[2], rows[1]}), {0, 2, 1});
  Value near = window(channels_last * channels_last, {size},
                      {{1}, {1}, {Dim((size - 1) / 2)}, {dims.at(1)}});
  Value sum = reduce_sum(near, {3});
  Value scale = sum * (c.real("alpha", 1e-4) / static_cast<double>(size)) + c.real("bias", 1);
  Value y = channels_last / pow(scale, number(x, c.real("beta", 0.75)));
  c.out(reshape(transpose(y, {0, 2, 1}), dims));
}

// ---- losses

// The loss of each element, its weight, and what `reduction` makes of them.
Value negative_log_likelihood(Context& c, const Value& log_prob, const Value& target,
                              std::size_t weights) {
  const Dims dims = log_prob.dims();
  Value wrong = c.graph.constant(DType::bool_, std::int64_t{0});
  Value index = cast(target, DType::i64);
  if (c.has_attribute("ignore_index")) {
    wrong = index == c.integer("ignore_index");
    index = where(wrong, c.graph.constant(DType::i64, std::int64_t{0}), index);
  }
  Value picked = squeeze(gather_elements(log_prob, unsqueeze(index, {1}), 1), {1});
  Value weight = c.has(weights) ? gather(cast(c.in(weights), log_prob.dtype()), index, 0)
                                : number(log_prob, 1);
  Value counted = where(wrong, number(log_prob, 0), weight);
  if (counted.dims() != picked.dims()) counted = broadcast_to(counted, picked.dims());
  Value loss = -picked * counted;
  if (c.has_attribute("ignore_index")) loss = where(wrong, number(loss, 0), loss);
  std::string reduction = c.choice("reduction", "mean", {"none", "sum", "mean"});
  if (reduction == "none") return loss;
  Value sum = reduce_sum(loss);
  return reduction == "sum" ? sum : sum / reduce_sum(counted);
}

void negative_log_likelihood_loss(Context& c) {
  Value x = c.in(0);
  DType wide = wide_type(x.dtype());
  c.out(cast(negative_log_likelihood(c, cast(x, wide), c.in(1), 2), x.dtype()));
}

void softmax_cross_entropy_loss(Context& c) {
  Value x = c.in(0);
  Value log_prob = log_softmax_along(cast(x, wide_type(x.dtype())), 1);
  c.out(0, cast(negative_log_likelihood(c, log_prob, c.in(1), 2), x.dtype()));
  c.out(1, cast(log_prob, x.dtype()));
}

constexpr OperatorRow rows[] = {
    {"Softmax", 1, softmax_like<softmax_along>},
    {"LogSoftmax", 1, softmax_like<log_softmax_along>},
    {"Hardmax", 1, softmax_like<hardmax_along>},
    {"BatchNormalization", 7, batch_normalization},
    {"InstanceNormalization", 6, instance_normalization},
    {"LayerNormalization", 17, layer_normalization},
    {"RMSNormalization", 23, rms_normalization},
    {"GroupNormalization", 18, group_normalization},
    {"LpNormalization", 1, lp_normalization},
    {"MeanVarianceNormalization", 9, mean_variance_normalization},
    {"LRN", 1, lrn},
    {"NegativeLogLikelihoodLoss", 12, negative_log_likelihood_loss},
    {"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy_loss},
};

}  // namespace

std::span<const OperatorRow> normalization_operators() { return rows; }

}  // namespace fuseline::onnx
