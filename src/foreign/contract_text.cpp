// The words of a contract.
#include "foreign/contract_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "graph/op_table.hpp"

namespace fuseline::foreign {
namespace {

// Words in lines of 80 columns behind an indentation.
std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t columns = 80;
  std::istringstream words(text);
  std::string out, line(indent, ' ');
  bool empty = true;
  for (std::string word; words >> word;) {
    if (!empty && line.size() + 1 + word.size() > columns) {
      out += line + "\n";
      line.assign(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + line + "\n";
}

std::string layout(const Argument& argument) {
  return argument.dims.empty() ? "one element" : "dense, row-major, no gaps";
}

std::string role(const Argument& argument) {
  if (!argument.is_output) return "read only";
  return argument.is_cleared ? "written; zeros when the kernel starts"
                             : "every element is written; undefined before";
}

std::string encoding(DType dtype) {
  if (dtype == DType::bool_) return ", one byte: 0 or 1";
  if (dtype == DType::f16 || dtype == DType::bf16) return ", its bits";
  return {};
}

std::string arguments_text(const Contract& contract) {
  std::string text;
  for (const Argument& argument : contract.arguments) {
    text += fmt::format("  {} {}\n", pointer_type(argument), argument.name);
    text += wrapped(fmt::format("{}{}{}, {}; {}; base a multiple of {} byte{}",
                                name_of(argument.dtype), to_string(argument.dims),
                                encoding(argument.dtype), layout(argument), role(argument),
                                size_of(argument.dtype), size_of(argument.dtype) == 1 ? "" : "s"),
                    6);
  }
  for (std::size_t i = 0; i < contract.sizes.size(); ++i)
    text += fmt::format("  int {}\n      the size {}, at least 1\n", contract.sizes[i],
                        contract.symbols[i]);
  return text;
}

std::vector<std::string> graph_lines(const Contract& contract) {
  std::istringstream lines(contract.graph.to_text());
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

// What each operation of the graph means, once.
std::vector<std::pair<std::string, std::string>> meanings(const Contract& contract) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::set<OpCode> seen = {OpCode::input, OpCode::constant};
  for (const Node& node : contract.graph.nodes()) {
    if (!seen.insert(node.op).second) continue;
    const OpInfo& op = info(node.op);
    std::string formula;
    if (op.group == OpGroup::elementwise) formula = fmt::format("{}. ", op.formula);
    rows.emplace_back(op.name, formula + std::string(op.doc));
  }
  return rows;
}

bool has_floats(const Contract& contract) {
  const auto& nodes = contract.graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return is_float(contract.graph.type(node.output).dtype);
  });
}

std::string comparison_text(const Contract& contract) {
  std::string text =
      "Every element of every output is compared with the reference (evaluate). Integers and bools "
      "must be equal.";
  if (has_floats(contract))
    text +=
        " Floats must lie in the interval that rounding to the element type after each operation, "
        "in f32 or better, and sums in any order allow, widened by one unit in the last place; NaN "
        "equals NaN. The kernel is compiled without fused multiply-add (--fmad=false).";
  return text + " Inputs and the bytes around every buffer must stay as they were.";
}

constexpr const char* launch_text =
    "One launch, no dynamic shared memory. A line of the text asks for its shape:";
constexpr const char* wish_lines =
    "      // fuseline: threads=256 items=1\n"
    "  threads=N or XxY  threads of a block, a multiple of 32 (256)\n"
    "  items=N           elements for each thread, along x (1)\n"
    "  blocks=N          exactly N blocks, for a loop over the grid\n"
    "  align=N           bases are multiples of N bytes (the element size)\n";

std::string space_text(const Contract& contract) {
  return fmt::format(
      "The grid covers n = {} elements of {}: ceil(n / (threads * items)) blocks, at least one. "
      "With "
      "threads=XxY it is two-dimensional: x over the last axis, y over the others.",
      product(contract.space).to_string(), to_string(contract.space));
}

constexpr const char* limits_text =
    "Sizes are arbitrary: 1, odd, prime, beside powers of two. No buffer exceeds 2^31 - 1 bytes. "
    "Nothing is known of a base beyond its element size, so wide loads need a path for other bases "
    "(or align=N, which Fuseline's own kernels do not need). Warp operations are those of whole "
    "warps. Every thread of a block reaches every barrier.";

}  // namespace

std::string text_of(const Contract& contract) {
  std::string text = fmt::format("The contract of {}\n\nDeclaration\n", contract.kernel);
  text += wrapped("extern \"C\" " + signature_of(contract), 2);
  text += "\nArguments, in order\n" + arguments_text(contract);
  text += "\nFormula (operations in order; docs/graph-text.md)\n";
  for (const std::string& line : graph_lines(contract)) text += "  " + line + "\n";
  text += "\nWhat the operations mean\n";
  for (const auto& [name, meaning] : meanings(contract)) text += wrapped(name + ": " + meaning, 2);
  text += "\nLaunch\n" + wrapped(launch_text, 2) + wish_lines + wrapped(space_text(contract), 2);
  text += "\nLimits\n" + wrapped(limits_text, 2);
  text += fmt::format(
      "  Minimum architecture: sm_{}. C++17, NVRTC: no header is needed, and\n"
      "  uint8_t to uint64_t are declared.\n",
      minimum_sm);
  return text + "\nCompared\n" + wrapped(comparison_text(contract), 2);
}

Json json_of(const Contract& contract) {
  Json arguments = Json::array(), operations = Json::object();
  for (const Argument& argument : contract.arguments)
    arguments.push_back({{"name", argument.name},
                         {"of_graph", argument.of_graph},
                         {"type", pointer_type(argument)},
                         {"dtype", name_of(argument.dtype)},
                         {"shape", to_string(argument.dims)},
                         {"layout", "dense"},
                         {"alignment", size_of(argument.dtype)},
                         {"output", argument.is_output},
                         {"cleared", argument.is_cleared}});
  for (const std::string& size : contract.sizes)
    arguments.push_back({{"name", size}, {"type", "int"}, {"scalar", true}});
  for (const auto& [name, meaning] : meanings(contract)) operations[name] = meaning;
  return {{"kernel", contract.kernel},
          {"declaration", "extern \"C\" " + signature_of(contract)},
          {"arguments", std::move(arguments)},
          {"graph", contract.graph.to_text()},
          {"operations", std::move(operations)},
          {"space", to_string(contract.space)},
          {"elements", product(contract.space).to_string()},
          {"launch", {{"threads", 256}, {"items", 1}, {"align", 1}, {"shared_bytes", 0}}},
          {"minimum_sm", minimum_sm},
          {"limits", limits_text},
          {"compared", comparison_text(contract)}};
}

std::string skeleton_of(const Contract& contract, const std::string& pipeline) {
  std::string text = fmt::format(
      "// {} for `fuseline kernel check`: the contract is printed by\n"
      "// `fuseline kernel spec {}`.\n//\n",
      contract.kernel, pipeline);
  for (const std::string& line : graph_lines(contract)) text += "//   " + line + "\n";
  text += "//\n// fuseline: threads=256 items=1\n";
  text += "extern \"C\" " + signature_of(contract) + " {\n";
  std::vector<std::string> factors;
  for (const Dim& dim : contract.space) {
    std::string factor = dim.to_string();
    for (std::size_t i = 0; i < contract.symbols.size(); ++i)
      if (dim.is_symbol() && dim.symbol_name() == contract.symbols[i]) factor = contract.sizes[i];
    bool plain = dim.is_constant() || dim.is_symbol();
    factors.push_back(plain ? "(long long)" + factor : "/* " + factor + " */ 1LL");
  }
  if (factors.empty()) factors.push_back("1LL");
  text += fmt::format("  // The elements of {}, one for each thread.\n  long long n = {};\n",
                      to_string(contract.space), fmt::join(factors, " * "));
  return text +
         "  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i >= n) return;\n"
         "  // Element i is computed and stored here.\n}\n";
}

}  // namespace fuseline::foreign
