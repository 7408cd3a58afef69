// Sizes, contents and base addresses.
#include "foreign/cases.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "base/fail.hpp"
#include "graph/op_table.hpp"

namespace fuseline::foreign {
namespace {

constexpr std::array<std::int64_t, 11> lengths = {1,   2,   3,    17,   31,    255,
                                                  257, 509, 1023, 4097, 100003};
constexpr std::array<std::array<std::int64_t, 2>, 11> areas = {{{1, 1},
                                                                {3, 5},
                                                                {1, 17},
                                                                {17, 1},
                                                                {7, 13},
                                                                {16, 16},
                                                                {31, 33},
                                                                {63, 65},
                                                                {101, 103},
                                                                {129, 127},
                                                                {241, 389}}};
constexpr std::array<std::int64_t, 5> boxes = {1, 2, 3, 5, 7};
constexpr std::int64_t large = 50000;  // elements of a space

void fill_integers(Tensor& tensor, std::mt19937_64& random, bool runs) {
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  // Runs as long as the last axis: the channels of a pixel are equal, and pixels pass through all
  // bytes.
  std::int64_t run = tensor.shape().empty() ? 1 : std::max<std::int64_t>(1, tensor.shape().back());
  if (run > 4) run = 1;
  auto* bytes = tensor.as<std::uint8_t>();
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    std::uint64_t value = runs ? static_cast<std::uint64_t>(i / run) : random();
    if (is_bool(tensor.dtype())) value &= 1;
    for (std::int64_t b = 0; b < width; ++b)
      bytes[i * width + b] = static_cast<std::uint8_t>(value >> (8 * b));
  }
}

void fill_floats(Tensor& tensor, std::mt19937_64& random, bool runs) {
  std::uniform_real_distribution<double> spread(-4, 4);
  std::size_t width = size_of(tensor.dtype());
  auto* bytes = tensor.as<char>();
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    Number value;
    value.d = runs ? static_cast<double>(i % 17 - 8) / 4 : spread(random);
    store_number(bytes + static_cast<std::size_t>(i) * width, tensor.dtype(),
                 round_to(value, tensor.dtype()));
  }
}

std::string label_of(const Contract& contract, const DimBindings& sizes) {
  std::string text;
  for (const std::string& symbol : contract.symbols)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", symbol, sizes.find(symbol)->second);
  return text.empty() ? "fixed sizes" : text;
}

}  // namespace

std::vector<DimBindings> sizes_to_try(const Contract& contract) {
  std::vector<DimBindings> all;
  const auto& symbols = contract.symbols;
  if (symbols.empty()) {
    all.assign(4, {});  // four contents
  } else if (symbols.size() == 1) {
    for (std::int64_t length : lengths) all.push_back({{symbols[0], length}});
  } else if (symbols.size() == 2) {
    for (auto [height, width] : areas) all.push_back({{symbols[0], height}, {symbols[1], width}});
  } else {
    for (std::size_t n = 0; n < 2 * boxes.size(); ++n) {
      DimBindings sizes;
      for (std::size_t i = 0; i < symbols.size(); ++i)
        sizes[symbols[i]] = n == 0 ? 1 : boxes[(n * (i + 1) + i) % boxes.size()];
      all.push_back(std::move(sizes));
    }
  }
  return all;
}

Case make_case(const Contract& contract, const DimBindings& sizes, std::size_t number) {
  Case made;
  made.sizes = sizes;
  made.label = label_of(contract, sizes);
  made.space = shape_of(contract.space, sizes);
  made.is_large = element_count(made.space) > large;
  check_sizes(contract.graph, sizes);
  std::mt19937_64 random(number + 1);
  for (const Argument& argument : contract.arguments) {
    if (argument.is_output) continue;
    Tensor tensor = Tensor::allocate(argument.dtype, shape_of(argument.dims, sizes));
    bool runs = number % 2 == 1;
    if (is_float(argument.dtype))
      fill_floats(tensor, random, runs);
    else
      fill_integers(tensor, random, runs);
    made.inputs.emplace_back(argument.of_graph, std::move(tensor));
  }
  std::vector<Evaluated> values = evaluate_bounded(contract.graph, made.inputs);
  for (const NamedValue& output : contract.graph.outputs())
    made.expected.push_back(values[output.value]);
  return made;
}

std::vector<Offsets> offsets_to_try(const Contract& contract, int align, bool few) {
  constexpr std::array<std::int64_t, 6> steps = {0, 1, 2, 3, 4, 8};
  std::vector<Offsets> all;
  for (std::size_t n = 0; n < (few ? 2 : steps.size()); ++n) {
    Offsets offsets;
    for (std::size_t i = 0; i < contract.arguments.size(); ++i) {
      auto unit = std::max<std::int64_t>(
          align, static_cast<std::int64_t>(size_of(contract.arguments[i].dtype)));
      // Arguments are misaligned against each other as well; the first placement is aligned.
      std::int64_t step = n == 0 ? 0 : steps[(n + i) % steps.size()];
      offsets.push_back((step + unit - 1) / unit * unit % 256);
    }
    if (std::find(all.begin(), all.end(), offsets) == all.end()) all.push_back(std::move(offsets));
  }
  return all;
}

}  // namespace fuseline::foreign
