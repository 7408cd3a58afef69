// Activations. Their constants are attributes in ONNX and operands in the op table.
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

template <OpCode op>
void unary(Context& c) {
  c.out(c.graph.apply(op, {c.in(0)}));
}

void leaky_relu(Context& c) { c.out(fuseline::leaky_relu(c.in(0), c.real("alpha", 0.01))); }
void elu(Context& c) { c.out(fuseline::elu(c.in(0), c.real("alpha", 1))); }
void celu(Context& c) { c.out(fuseline::celu(c.in(0), c.real("alpha", 1))); }

void selu(Context& c) {
  c.out(fuseline::selu(c.in(0), c.real("alpha", 1.67326319217681884765625),
                       c.real("gamma", 1.05070102214813232421875)));
}

void hard_sigmoid(Context& c) {
  c.out(fuseline::hard_sigmoid(c.in(0), c.real("alpha", 0.2), c.real("beta", 0.5)));
}

void thresholded_relu(Context& c) {
  c.out(fuseline::thresholded_relu(c.in(0), c.real("alpha", 1)));
}

// Integers too.
void shrink(Context& c) {
  Value x = c.in(0);
  double limit = c.real("lambd", 0.5), bias = c.real("bias", 0);
  if (is_float(x.dtype())) return c.out(fuseline::shrink(x, limit, bias));
  Value wide = fuseline::shrink(cast(x, DType::f32), limit, bias);
  c.out(cast(wide, x.dtype()));
}

// The slope broadcasts to the operand; that of integers is a factor like any other.
void prelu(Context& c) {
  Value x = c.in(0), slope = c.in(1);
  if (is_float(x.dtype())) return c.out(fuseline::leaky_relu(x, slope));
  c.out(fuseline::where(x < 0, x * slope, x));
}

void gelu(Context& c) {
  bool tanh = c.choice("approximate", "none", {"none", "tanh"}) == "tanh";
  c.out(tanh ? fuseline::gelu_tanh(c.in(0)) : fuseline::gelu(c.in(0)));
}

void swish(Context& c) {
  Value x = c.in(0);
  double alpha = c.real("alpha", 1);
  c.out(alpha == 1 ? fuseline::silu(x) : x * fuseline::sigmoid(x * alpha));
}

// silu of the gate, times the linear half.
void swiglu(Context& c) {
  Value gate = c.in(0);
  double alpha = c.real("alpha", 1);
  Value swished = alpha == 1 ? fuseline::silu(gate) : gate * fuseline::sigmoid(gate * alpha);
  c.out(swished * c.in(1));
}

constexpr OperatorRow rows[] = {
    {"Relu", 1, unary<OpCode::relu>},
    {"LeakyRelu", 1, leaky_relu},
    {"PRelu", 7, prelu},
    {"Sigmoid", 1, unary<OpCode::sigmoid>},
    {"HardSigmoid", 1, hard_sigmoid},
    {"HardSwish", 1, unary<OpCode::hard_swish>},
    {"Elu", 1, elu},
    {"Selu", 1, selu},
    {"Celu", 1, celu},
    {"Softplus", 1, unary<OpCode::softplus>},
    {"Softsign", 1, unary<OpCode::softsign>},
    {"Mish", 1, unary<OpCode::mish>},
    {"Gelu", 1, gelu},
    {"Swish", 1, swish},
    {"SwiGLU", 1, swiglu},
    {"ThresholdedRelu", 1, thresholded_relu},
    {"Shrink", 1, shrink},
};

}  // namespace

std::span<const OperatorRow> activation_operators() { return rows; }

}  // namespace fuseline::onnx
