// Recurrences over a known number of steps, written out: RNN, GRU, LSTM, linear attention.
#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/linear_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

constexpr std::int64_t most_steps = 4096;

std::int64_t steps_of(const Dim& dim) {
  if (!dim.is_constant() || dim.constant() > most_steps || dim.constant() < 1)
    fail("a sequence of {} steps; a known number from 1 to {} is needed", dim.to_string(),
         most_steps);
  return dim.constant();
}

// ---- activation functions by name

using Function = Value (*)(const Value&, double alpha, double beta);

struct NamedFunction {
  std::string_view name;
  double alpha, beta;  // when the attributes do not say
  Function apply;
};

constexpr NamedFunction functions[] = {
    {"relu", 0, 0, [](const Value& x, double, double) { return relu(x); }},
    {"tanh", 0, 0, [](const Value& x, double, double) { return tanh(x); }},
    {"sigmoid", 0, 0, [](const Value& x, double, double) { return sigmoid(x); }},
    {"affine", 1, 0, [](const Value& x, double a, double b) { return x * a + b; }},
    {"leakyrelu", 0.01, 0, [](const Value& x, double a, double) { return leaky_relu(x, a); }},
    {"thresholdedrelu", 1, 0,
     [](const Value& x, double a, double) { return thresholded_relu(x, a); }},
    {"scaledtanh", 1, 1, [](const Value& x, double a, double b) { return tanh(x * b) * a; }},
    {"hardsigmoid", 0.2, 0.5,
     [](const Value& x, double a, double b) { return hard_sigmoid(x, a, b); }},
    {"elu", 1, 0, [](const Value& x, double a, double) { return elu(x, a); }},
    {"softsign", 0, 0, [](const Value& x, double, double) { return softsign(x); }},
    {"softplus", 0, 0, [](const Value& x, double, double) { return softplus(x); }},
};

struct Activation {
  const NamedFunction* function;
  double alpha, beta;
  Value operator()(const Value& x) const { return function->apply(x, alpha, beta); }
};

const NamedFunction& function_named(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  for (const NamedFunction& f : functions)
    if (f.name == name) return f;
  fail("attribute activations: \"{}\" is not known", name);
}

std::vector<Activation> activations_of(Context& c, std::vector<std::string> names,
                                       std::size_t directions) {
  std::vector<std::string> given = c.text_list("activations");
  const std::vector<std::string> once = names;
  std::size_t each = once.size();
  for (std::size_t d = 1; d < directions; ++d) names.insert(names.end(), once.begin(), once.end());
  if (!given.empty()) names = given;
  std::vector<double> alphas = c.real_list("activation_alpha"),
                      betas = c.real_list("activation_beta");
  std::vector<Activation> list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NamedFunction& f = function_named(names[i]);
    list.push_back(
        {&f, i < alphas.size() ? alphas[i] : f.alpha, i < betas.size() ? betas[i] : f.beta});
  }
  if (list.size() != each * directions)
    fail("attribute activations: {} names, {} are needed", list.size(), each * directions);
  return list;
}

// ---- RNN, GRU, LSTM

// One direction of one layer.
struct Layer {
  Context& c;
  Value x;                         // [T, B, I]
  Value w, r;                      // [gates * H, I] and [gates * H, H]
  Value wb, rb;                    // biases [gates * H]
  Value h, cell;                   // [B, H]
  std::optional<Value> peepholes;  // [3 * H]
  std::optional<Value> lengths;    // [B, 1]
  std::span<const Activation> act;
  bool backwards;
  Dim hidden;

  Value gate(const Value& all, std::int64_t i) const {
    return part(all, all.dims().size() - 1, hidden * i, hidden);
  }
  Value rows(const Value& all, std::int64_t i) const { return part(all, 0, hidden * i, hidden); }
  Value limited(const Value& v) const {
    double limit = c.real("clip", 0);
    return limit > 0 ? clip(v, -limit, limit) : v;
  }
};

using Step = void (*)(Layer&, const Value& input);  // input: x W + bias of this step

void rnn_step(Layer& l, const Value& input) {
  Value sum = input + matmul(l.h, transpose(l.r, {1, 0})) + l.rb;
  l.h = l.act[0](l.limited(sum));
}

// Gates: update, reset, hidden.
void gru_step(Layer& l, const Value& input) {
  bool linear_first = l.c.integer("linear_before_reset", 0) != 0;
  auto recurrent = [&](const Value& h, std::int64_t i) {
    return matmul(h, transpose(l.rows(l.r, i), {1, 0})) + l.rows(l.rb, i);
  };
  Value z = l.act[0](l.limited(l.gate(input, 0) + recurrent(l.h, 0)));
  Value r = l.act[0](l.limited(l.gate(input, 1) + recurrent(l.h, 1)));
  Value inner = linear_first ? r * recurrent(l.h, 2) : recurrent(r * l.h, 2);
  Value candidate = l.act[1](l.limited(l.gate(input, 2) + inner));
  l.h = (1 - z) * candidate + z * l.h;
}

// Gates: input, output, forget, cell.
void lstm_step(Layer& l, const Value& input) {
  Value all = input + matmul(l.h, transpose(l.r, {1, 0})) + l.rb;
  auto gate = [&](std::int64_t i, std::int64_t peephole, const Value& cell) {
    Value sum = l.gate(all, i);
    if (l.peepholes) sum = sum + l.rows(*l.peepholes, peephole) * cell;
    return l.act[0](l.limited(sum));
  };
  Value in = gate(0, 0, l.cell);
  Value forget = l.c.integer("input_forget", 0) ? 1 - in : gate(2, 2, l.cell);
  l.cell = forget * l.cell + in * l.act[1](l.limited(l.gate(all, 3)));
  Value out = gate(1, 1, l.cell);
  l.h = out * l.act[2](l.cell);
}

// Outputs of all steps in the order of time: [T, B, H].
Value walk(Layer& l, Step step) {
  std::int64_t count = steps_of(l.x.dims()[0]);
  Value inputs = matmul(l.x, transpose(l.w, {1, 0})) + l.wb;
  std::vector<Value> outputs;
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t t = l.backwards ? count - 1 - n : n;
    Value old_h = l.h, old_cell = l.cell;
    step(l, pick(inputs, 0, t));
    Value out = l.h;
    if (l.lengths) {  // sequences that are over keep their state
      Value running = *l.lengths > t;
      l.h = where(running, l.h, old_h);
      l.cell = where(running, l.cell, old_cell);
      out = where(running, out, number(out, 0));
    }
    outputs.push_back(unsqueeze(out, {0}));
  }
  if (l.backwards) std::reverse(outputs.begin(), outputs.end());
  return concat_many(outputs, 0);
}

struct Kind {
  std::int64_t gates;
  std::vector<std::string> activations;
  Step step;
  bool has_cell;
};

void recurrent(Context& c, const Kind& kind) {
  std::string direction = c.choice("direction", "forward", {"forward", "reverse", "bidirectional"});
  std::size_t directions = direction == "bidirectional" ? 2 : 1;
  bool batch_first = c.integer("layout", 0) != 0;
  Value x = batch_first ? transpose(c.in(0), {1, 0, 2}) : c.in(0);
  Value r = c.in(2);
  const Dim batch = x.dims().at(1), hidden = r.dims().at(2);
  Dim rows = hidden * kind.gates;
  std::vector<Activation> act = activations_of(c, kind.activations, directions);
  Value zeros = broadcast_to(number(x, 0), {batch, hidden});
  auto state = [&](std::size_t i, int d) {
    if (!c.has(i)) return zeros;
    return pick(batch_first ? transpose(c.in(i), {1, 0, 2}) : c.in(i), 0, d);
  };
  std::vector<Value> all, last, cells;
  for (int d = 0; d < static_cast<int>(directions); ++d) {
    Value bias = c.has(3) ? pick(c.in(3), 0, d) : broadcast_to(number(x, 0), {rows * 2});
    std::size_t each = kind.activations.size();
    Layer layer{c,
                x,
                pick(c.in(1), 0, d),
                pick(r, 0, d),
                part(bias, 0, 0, rows),
                part(bias, 0, rows, rows),
                state(5, d),
                state(6, d),
                std::nullopt,
                std::nullopt,
                std::span(act).subspan(each * static_cast<std::size_t>(d), each),
                direction == "reverse" || d == 1,
                hidden};
    if (kind.has_cell && c.has(7)) layer.peepholes = pick(c.in(7), 0, d);
    if (c.has(4)) layer.lengths = reshape(cast(c.in(4), DType::i64), {batch, 1});
    all.push_back(unsqueeze(walk(layer, kind.step), {1}));
    last.push_back(unsqueeze(layer.h, {0}));
    cells.push_back(unsqueeze(layer.cell, {0}));
  }
  Value y = concat_many(all, 1), y_h = concat_many(last, 0), y_c = concat_many(cells, 0);
  c.out(0, batch_first ? transpose(y, {2, 0, 1, 3}) : y);
  c.out(1, batch_first ? transpose(y_h, {1, 0, 2}) : y_h);
  if (kind.has_cell) c.out(2, batch_first ? transpose(y_c, {1, 0, 2}) : y_c);
}

void rnn(Context& c) { recurrent(c, {1, {"Tanh"}, rnn_step, false}); }
void gru(Context& c) { recurrent(c, {3, {"Sigmoid", "Tanh"}, gru_step, false}); }
void lstm(Context& c) { recurrent(c, {4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step, true}); }

// ---- linear attention

// [B, T, heads * D] as [T, B, heads, D].
Value unpacked(const Value& x, const Dim& heads) {
  const Dims d = x.dims();
  if (d.size() != 3) fail("an operand [B, T, heads * size] is needed, not {}", to_string(d));
  return transpose(cast(reshape(x, {d[0], d[1], heads, floor_div(d[2], heads)}), DType::f32),
                   {1, 0, 2, 3});
}

void linear_attention(Context& c) {
  std::int64_t q_heads = c.integer("q_num_heads"), heads = c.integer("kv_num_heads");
  if (heads < 1 || q_heads < 1 || q_heads % heads != 0)
    fail("{} heads of queries for {} of keys", q_heads, heads);
  std::string rule =
      c.choice("update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"});
  bool gated = rule.starts_with("gated"), corrects = rule.ends_with("delta");
  Value q = unpacked(c.in(0), q_heads), k = unpacked(c.in(1), heads), v = unpacked(c.in(2), heads);
  const Dims kd = k.dims();
  const Dim batch = kd[1], depth = kd[3], width = v.dims()[3];
  q = reshape(q, {kd[0], batch, heads, q_heads / heads, depth});
  std::optional<Value> decay, beta;
  if (gated) decay = unpacked(c.in(4), heads);
  if (corrects) beta = unpacked(c.in(5), c.in(5).dims().at(2) == Dim(1) ? Dim(1) : Dim(heads));
  double scale = c.real("scale", 0);
  if (scale == 0) {
    if (!depth.is_constant()) fail("the size of a head must be known");
    scale = 1 / std::sqrt(static_cast<double>(depth.constant()));
  }
  Value state = c.has(3)
                    ? cast(c.in(3), DType::f32)
                    : broadcast_to(number(c.graph, DType::f32, 0), {batch, heads, depth, width});
  std::vector<Value> outputs;
  for (std::int64_t t = 0; t < steps_of(kd[0]); ++t) {
    Value key = unsqueeze(pick(k, 0, t), {3}), value = pick(v, 0, t);  // [B, H, D, 1], [B, H, W]
    if (decay) state = state * exp(unsqueeze(pick(*decay, 0, t), {3}));
    if (corrects) value = (value - reduce_sum(state * key, {2})) * pick(*beta, 0, t);
    state = state + key * unsqueeze(value, {2});
    Value out = matmul(pick(q, 0, t), state) * scale;  // [B, H, group, W]
    outputs.push_back(reshape(out, {batch, 1, width * q_heads}));
  }
  c.out(0, cast(concat_many(outputs, 1), c.in(0).dtype()));
  c.out(1, cast(state, c.has(3) ? c.in(3).dtype() : c.in(0).dtype()));
}

// A convolution of each channel with what came before; the last inputs are kept for the next call.
void causal_conv_with_state(Context& c) {
  Value x = c.in(0), w = c.in(1);
  const Dims dims = x.dims();
  if (dims.size() != 3 || w.dims().size() != 3 || !dims[1].is_constant() ||
      !w.dims()[2].is_constant())
    fail("operands [B, C, L] and [C, 1, k] of known sizes are needed");
  std::int64_t taps = w.dims()[2].constant();
  Value padded = c.has(3) ? concat({c.in(3), x}, 2) : pad(x, {0, 0, taps - 1}, {0, 0, 0});
  Value y = conv(padded, w, {{1}, {1}, {Dim(0)}, {dims[2]}}, dims[1].constant());
  if (c.has(2)) y = add_bias(y, c.in(2));
  if (c.choice("activation", "none", {"none", "silu", "swish"}) != "none") y = silu(y);
  c.out(0, y);
  c.out(1, part(padded, 2, dims[2], taps - 1));
}

constexpr OperatorRow rows[] = {
    {"RNN", 7, rnn},
    {"GRU", 7, gru},
    {"LSTM", 7, lstm},
    {"LinearAttention", 27, linear_attention},
    {"CausalConvWithState", 27, causal_conv_with_state},
};

}  // namespace

std::span<const OperatorRow> recurrent_operators() { return rows; }

}  // namespace fuseline::onnx
