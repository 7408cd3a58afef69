// Constants, graphs inside nodes, and operators that only pass their operand on.
#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

constexpr std::int64_t most_steps = 4096;  // of a loop that is written out

Value constant(Context& c, const Tensor& tensor) {
  return c.graph.apply(OpCode::constant, {}, {{"value", tensor}});
}

void constant_op(Context& c) {
  if (c.has_attribute("value")) {
    int type = c.find("value")->t ? c.find("value")->t->data_type : 0;
    return c.out(0, constant(c, c.tensor_attribute("value")), type);
  }
  if (c.has_attribute("value_float"))
    return c.out(number(c.graph, DType::f32, c.real("value_float", 0)));
  if (c.has_attribute("value_int"))
    return c.out(c.graph.constant(DType::i64, c.integer("value_int", 0)));
  if (c.has_attribute("value_ints")) {
    std::vector<std::int64_t> values = c.integer_list("value_ints");
    return c.out(integer_constant(c.graph, values, {static_cast<std::int64_t>(values.size())}));
  }
  if (c.has_attribute("value_floats")) {
    std::vector<double> values = c.real_list("value_floats");
    Tensor tensor = Tensor::allocate(DType::f32, {static_cast<std::int64_t>(values.size())});
    for (std::size_t i = 0; i < values.size(); ++i)
      tensor.as<float>()[i] = static_cast<float>(values[i]);
    return c.out(constant(c, tensor));
  }
  fail("a constant of this kind is not supported; value, value_int(s) and value_float(s) are");
}

// Inference only: the operand, and a mask of ones.
void dropout(Context& c) {
  bool training = c.opset >= 12 && c.has(2) && c.integers(2).at(0) != 0;
  double ratio = c.opset < 12 ? c.real("ratio", 0.5)
                 : c.has(1)   ? c.known.numbers(c.in(1)).at(0)
                              : 0.5;
  if (training && ratio != 0) fail("dropout while training needs random numbers");
  c.out(0, c.in(0), c.type(0));
  DType mask = c.opset >= 10 ? DType::bool_ : c.in(0).dtype();
  c.out(1, broadcast_to(c.graph.constant(mask, std::int64_t{1}), c.in(0).dims()));
}

// Both branches are computed, and one is taken.
void either_branch(Context& c) {
  Value condition = reshape(c.in(0), {});
  std::vector<Operand> yes = c.run_graph(c.graph_attribute("then_branch"), {});
  std::vector<Operand> no = c.run_graph(c.graph_attribute("else_branch"), {});
  if (yes.size() != no.size()) fail("branches with {} and {} results", yes.size(), no.size());
  for (std::size_t i = 0; i < yes.size(); ++i) {
    const Value &a = yes[i].value, &b = no[i].value;
    if (yes[i].type != no[i].type || a.dims() != b.dims())
      fail("the condition is computed from data, and result {} would be {}{} or {}{}", i,
           name_of(a.dtype()), to_string(a.dims()), name_of(b.dtype()), to_string(b.dims()));
    c.out(i, where(condition, a, b), yes[i].type);
  }
}

// Where the condition follows from constants, sizes or a given input, one branch is read.
void if_op(Context& c) {
  if (!c.known.knows(c.in(0))) return either_branch(c);
  bool holds = c.integers(0).at(0) != 0;
  std::vector<Operand> results =
      c.run_graph(c.graph_attribute(holds ? "then_branch" : "else_branch"), {});
  for (std::size_t i = 0; i < results.size(); ++i) c.out(i, results[i].value, results[i].type);
}

struct Series {
  std::vector<Value> steps;
  int type = undefined;

  void add(const Operand& step, std::int64_t axis) {
    steps.push_back(unsqueeze(step.value, {axis}));
    type = step.type;
  }
};

// A loop whose number of steps is known is written out.
void loop_op(Context& c) {
  const GraphProto& body = c.graph_attribute("body");
  std::int64_t count = c.has(0) ? c.integers(0).at(0) : most_steps + 1;
  bool running = !c.has(1) || c.integers(1).at(0) != 0;
  std::vector<Operand> carried;
  for (std::size_t i = 2; i < c.count(); ++i) carried.push_back(c.operand(i));
  std::vector<Series> scanned(body.outputs.size() -
                              std::min(body.outputs.size(), carried.size() + 1));
  for (std::int64_t step = 0; running && step < count; ++step) {
    if (step >= most_steps) fail("a loop of more than {} steps", most_steps);
    std::vector<Operand> inputs = {{c.graph.constant(DType::i64, step), int64},
                                   {c.graph.constant(DType::bool_, std::int64_t{1}), boolean}};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    std::vector<Operand> results = c.run_graph(body, inputs);
    if (results.size() <= carried.size()) fail("the body has too few outputs");
    running = c.known.integers(results[0].value).at(0) != 0;
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = results[i + 1];
    for (std::size_t i = 0; i < scanned.size(); ++i)
      scanned[i].add(results[carried.size() + 1 + i], 0);
  }
  for (std::size_t i = 0; i < carried.size(); ++i) c.out(i, carried[i].value, carried[i].type);
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    if (scanned[i].steps.empty()) fail("a loop of no steps has no known output shape");
    c.out(carried.size() + i, concat_many(scanned[i].steps, 0), scanned[i].type);
  }
}

std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t i) {
  return i < list.size() ? list[i] : 0;
}

Value step_of(const Value& x, std::int64_t axis, std::int64_t step, bool backwards) {
  std::size_t at = absolute_axis(axis, x.dims().size());
  Dim index = backwards ? x.dims()[at] - 1 - step : Dim(step);
  return pick(x, static_cast<int>(at), index);
}

// Scan from opset 9 on: states first, then what is walked along.
void scan_op(Context& c) {
  const GraphProto& body = c.graph_attribute("body");
  std::int64_t walked = c.integer("num_scan_inputs");
  if (walked < 1 || static_cast<std::size_t>(walked) > c.count())
    fail("attribute num_scan_inputs: {} of {} operands", walked, c.count());
  std::size_t states = c.count() - static_cast<std::size_t>(walked);
  std::vector<std::int64_t> in_axes = c.integer_list("scan_input_axes");
  std::vector<std::int64_t> in_back = c.integer_list("scan_input_directions");
  std::vector<std::int64_t> out_axes = c.integer_list("scan_output_axes");
  std::vector<std::int64_t> out_back = c.integer_list("scan_output_directions");
  Dim length = c.in(states).dims()[absolute_axis(entry(in_axes, 0), c.rank(states))];
  if (!length.is_constant() || length.constant() > most_steps || length.constant() < 1)
    fail("a walk of {} steps; a known number up to {} is needed", length.to_string(), most_steps);
  std::vector<Operand> carried;
  for (std::size_t i = 0; i < states; ++i) carried.push_back(c.operand(i));
  std::vector<Series> series(body.outputs.size() - std::min(body.outputs.size(), states));
  for (std::int64_t step = 0; step < length.constant(); ++step) {
    std::vector<Operand> inputs = carried;
    for (std::size_t i = states; i < c.count(); ++i)
      inputs.push_back(
          {step_of(c.in(i), entry(in_axes, i - states), step, entry(in_back, i - states) != 0),
           c.type(i)});
    std::vector<Operand> results = c.run_graph(body, inputs);
    for (std::size_t i = 0; i < states; ++i) carried[i] = results[i];
    for (std::size_t i = 0; i < series.size(); ++i)
      series[i].add(results[states + i], entry(out_axes, i));
  }
  for (std::size_t i = 0; i < states; ++i) c.out(i, carried[i].value, carried[i].type);
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (entry(out_back, i)) std::reverse(series[i].steps.begin(), series[i].steps.end());
    c.out(states + i, concat_many(series[i].steps, entry(out_axes, i)), series[i].type);
  }
}

// Opset 8: a batch axis in front of everything, each batch entry walked along axis 1.
void batch_scan_op(Context& c) {
  if (c.has(0)) fail("sequence lengths are not supported");
  const GraphProto& body = c.graph_attribute("body");
  std::int64_t walked = c.integer("num_scan_inputs");
  if (walked < 1 || static_cast<std::size_t>(walked) >= c.count())
    fail("attribute num_scan_inputs: {} of {} operands", walked, c.count());
  std::size_t states = c.count() - 1 - static_cast<std::size_t>(walked);
  std::vector<std::int64_t> back = c.integer_list("directions");
  const Dims dims = c.in(states + 1).dims();
  bool known = dims.size() >= 2 && dims[0].is_constant() && dims[1].is_constant() &&
               dims[0].constant() >= 1 && dims[1].constant() >= 1;
  if (!known || dims[0].constant() * dims[1].constant() > most_steps)
    fail("a walk over {}; known numbers of entries and steps are needed, together up to {}",
         to_string(dims), most_steps);
  std::vector<Series> batches(body.outputs.size());
  for (std::int64_t entry_at = 0; entry_at < dims[0].constant(); ++entry_at) {
    std::vector<Operand> carried;
    for (std::size_t i = 1; i <= states; ++i)
      carried.push_back({pick(c.in(i), 0, entry_at), c.type(i)});
    std::vector<Series> series(body.outputs.size() - std::min(body.outputs.size(), states));
    for (std::int64_t step = 0; step < dims[1].constant(); ++step) {
      std::vector<Operand> inputs = carried;
      for (std::size_t i = states + 1; i < c.count(); ++i)
        inputs.push_back(
            {step_of(pick(c.in(i), 0, entry_at), 0, step, entry(back, i - states - 1) != 0),
             c.type(i)});
      std::vector<Operand> results = c.run_graph(body, inputs);
      for (std::size_t i = 0; i < states; ++i) carried[i] = results[i];
      for (std::size_t i = 0; i < series.size(); ++i) series[i].add(results[states + i], 0);
    }
    for (std::size_t i = 0; i < states; ++i) batches[i].add(carried[i], 0);
    for (std::size_t i = 0; i < series.size(); ++i)
      batches[states + i].add({concat_many(series[i].steps, 0), series[i].type}, 0);
  }
  for (std::size_t i = 0; i < batches.size(); ++i)
    c.out(i, concat_many(batches[i].steps, 0), batches[i].type);
}

// ---- optionals: an operand that is left out is an empty one

void has_element(Context& c) { c.out(c.graph.constant(DType::bool_, std::int64_t{c.has(0)})); }

void get_element(Context& c) { c.out_like(c.in(0)); }

constexpr OperatorRow rows[] = {
    {"Constant", 1, constant_op},
    {"Dropout", 7, dropout},
    {"If", 1, if_op},
    {"Loop", 1, loop_op},
    {"Scan", 8, batch_scan_op},
    {"Scan", 9, scan_op},
    {"OptionalHasElement", 15, has_element},
    {"OptionalGetElement", 15, get_element},
};

}  // namespace

std::span<const OperatorRow> control_operators() { return rows; }

}  // namespace fuseline::onnx
