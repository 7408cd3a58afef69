// Contracts out of graphs.
#include "foreign/contract.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/fail.hpp"
#include "graph/check_sizes.hpp"
#include "graph/op_table.hpp"

namespace fuseline::foreign {
namespace {

// Names of a graph hold characters that C does not take; names in C are unique here.
class CNames {
 public:
  std::string add(const std::string& name) {
    std::string text;
    for (char c : name) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) text = "_" + text;
    if (reserved().contains(text)) text += "_";
    while (!taken_.insert(text).second) text += "_";
    return text;
  }

 private:
  static const std::set<std::string>& reserved() {
    static const std::set<std::string> words = {
        "auto",    "bool",     "break",    "case",      "char",     "class",    "const",
        "default", "delete",   "do",       "double",    "else",     "enum",     "extern",
        "float",   "for",      "if",       "inline",    "int",      "long",     "new",
        "not",     "operator", "register", "return",    "short",    "signed",   "sizeof",
        "static",  "struct",   "switch",   "template",  "this",     "union",    "unsigned",
        "using",   "void",     "while",    "threadIdx", "blockIdx", "blockDim", "gridDim"};
    return words;
  }
  std::set<std::string> taken_;
};

void require_static(std::string_view name, const Dims& dims) {
  for (const Dim& dim : dims)
    for (Dim::Kind kind : {Dim::Kind::operand, Dim::Kind::bounded, Dim::Kind::late})
      if (dim.has(kind))
        fail(
            "kernel: the size {} of \"{}\" depends on data; a contract needs sizes that follow "
            "from the inputs' shapes",
            dim.to_string(), name);
}

bool is_reduction(const Graph& graph, ValueId value) {
  return info(graph.node_of(value).op).group == OpGroup::reduction;
}

// A few elements behind a reduction are cleared for it as well: count() casts what it summed.
bool comes_from_reduction(const Graph& graph, ValueId value) {
  const Node* node = &graph.node_of(value);
  while (node->inputs.size() == 1 && !is_reduction(graph, node->output) &&
         (node->op == OpCode::cast || node->op == OpCode::reshape))
    node = &graph.node_of(node->inputs[0]);
  return is_reduction(graph, node->output);
}

// The largest value that is an output or reduced, at some sizes in the middle.
Dims largest_space(const Contract& contract) {
  const Graph& graph = contract.graph;
  DimBindings sizes;
  for (const std::string& symbol : contract.symbols) sizes[symbol] = 96;
  Dims best;
  std::int64_t most = -1;
  auto offer = [&](ValueId value) {
    const Dims& dims = graph.type(value).dims;
    std::int64_t count = product(dims).evaluate(sizes);
    if (count > most) {
      most = count;
      best = dims;
    }
  };
  for (const NamedValue& output : graph.outputs()) offer(output.value);
  for (const Node& node : graph.nodes())
    if (info(node.op).group == OpGroup::reduction && !node.inputs.empty()) offer(node.inputs[0]);
  return best;
}

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::bool_:
    case DType::u8:
      return "unsigned char";
    case DType::i8:
      return "signed char";
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return "unsigned short";
    case DType::i16:
      return "short";
    case DType::u32:
      return "unsigned int";
    case DType::i32:
      return "int";
    case DType::u64:
      return "unsigned long long";
    case DType::i64:
      return "long long";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
  }
  fail_internal("an element type without a name in C");
}

void add_argument(Contract& contract, CNames& names, const NamedValue& named, bool is_output) {
  const ValueType& type = contract.graph.type(named.value);
  require_static(named.name, type.dims);
  bool cleared = is_output && comes_from_reduction(contract.graph, named.value);
  contract.arguments.push_back(
      {names.add(named.name), named.name, type.dtype, type.dims, is_output, cleared});
  if (is_output) return;
  for (const Dim& dim : type.dims)
    for (const std::string& symbol : dim.names())
      if (std::find(contract.symbols.begin(), contract.symbols.end(), symbol) ==
          contract.symbols.end())
        contract.symbols.push_back(symbol);
}

}  // namespace

Contract contract_of(Graph graph, const std::string& pipeline) {
  if (graph.outputs().empty()) fail("kernel: {} has no output; nothing could be checked", pipeline);
  Contract contract;
  contract.graph = std::move(graph);
  contract.kernel = CNames().add(pipeline + "_kernel");
  CNames names;
  for (const NamedValue& input : contract.graph.inputs())
    add_argument(contract, names, input, false);
  for (const NamedValue& output : contract.graph.outputs())
    add_argument(contract, names, output, true);
  for (const std::string& symbol : contract.symbols) contract.sizes.push_back(names.add(symbol));
  contract.space = largest_space(contract);
  return contract;
}

std::string pointer_type(const Argument& argument) {
  return fmt::format("{}{}*", argument.is_output ? "" : "const ", c_type(argument.dtype));
}

std::string signature_of(const Contract& contract) {
  std::string text = "__global__ void " + contract.kernel + "(";
  std::string separator;
  for (const Argument& argument : contract.arguments) {
    text += fmt::format("{}{} __restrict__ {}", separator, pointer_type(argument), argument.name);
    separator = ", ";
  }
  for (const std::string& size : contract.sizes) text += fmt::format("{}int {}", separator, size);
  return text + ")";
}

std::string function_type(const Contract& contract) {
  std::string text;
  for (const Argument& argument : contract.arguments)
    text += (text.empty() ? "" : ", ") + pointer_type(argument);
  for (std::size_t i = 0; i < contract.sizes.size(); ++i) text += ", int";
  return "void(" + text + ")";
}

}  // namespace fuseline::foreign
