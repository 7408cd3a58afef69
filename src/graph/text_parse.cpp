// Text -> graph. The text may come from anywhere: every malformed line is an Error with its number.
#include <algorithm>
#include <unordered_map>

#include "base/fail.hpp"
#include "graph/node_label.hpp"
#include "graph/op_table.hpp"
#include "graph/text_line.hpp"
#include "graph/text_number.hpp"
#include "graph/verify.hpp"

namespace fuseline {
namespace {

constexpr std::string_view header = "fuseline-graph ";
constexpr std::int64_t version = 1;

Dims parse_dims(Line& line, char close) {
  Dims dims;
  for (std::string_view piece : line.pieces(close))
    dims.push_back(line.placed([&] { return Dim::parse(piece); }));
  return dims;
}

Attribute parse_attribute(Line& line) {
  if (line.take('(')) return parse_dims(line, ')');
  if (line.take('[')) {
    std::vector<std::int64_t> list;
    for (std::string_view piece : line.pieces(']')) {
      auto number = parse_integer(piece);
      if (!number) line.refuse("\"{}\" in a list is no integer of 64 bits", shortened(piece));
      list.push_back(*number);
    }
    return list;
  }
  if (line.next_is('"')) return line.quoted();
  std::string_view word = line.word(",}");
  if (auto dtype = dtype_from_name(word)) return *dtype;
  if (auto number = parse_integer(word)) return *number;
  if (auto number = parse_float(word)) return *number;
  line.refuse("\"{}\" is no attribute value", shortened(word));
}

Attributes parse_attributes(Line& line) {
  Attributes attributes;
  if (line.take('}')) return attributes;
  do {
    std::string name(line.word("=,}"));
    if (name.empty()) line.refuse("an attribute name is expected{}", line.here());
    if (attributes.has(name)) line.refuse("attribute {} is given twice", shortened(name));
    line.expect('=');
    attributes.set(std::move(name), parse_attribute(line));
  } while (line.take(','));
  line.expect('}');
  return attributes;
}

// What follows the colon: an element type and sizes.
ValueType parse_type(Line& line) {
  std::string_view name = line.word("[");
  auto dtype = dtype_from_name(name);
  if (!dtype) line.refuse("\"{}\" is no element type", shortened(name));
  line.expect('[');
  return {*dtype, parse_dims(line, ']')};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Graph run() {
    parse_header();
    while (!rest_.empty()) {
      Line line = next_line();
      if (line.at_end() || line.take('#')) continue;
      parse_line(line);
      if (!line.at_end()) line.refuse("unexpected text{}", line.here());
    }
    return std::move(graph_);
  }

 private:
  Line next_line() {
    std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view text = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return Line(text, ++number_);
  }

  void parse_header() {
    std::string_view first = trimmed(rest_.substr(0, rest_.find('\n')));
    Line line = next_line();
    if (!first.starts_with(header)) line.refuse("\"{}1\" expected, this is no graph text", header);
    auto written = parse_integer(first.substr(header.size()));
    if (!written || *written < 1) line.refuse("no version after \"{}\"", header);
    if (*written > version)
      line.refuse("version {}, but this Fuseline reads versions up to {}; use a newer one",
                  *written, version);
  }

  void parse_line(Line& line) {
    if (line.take('%')) return parse_node(line);
    std::string_view word = line.word("");
    if (word != "output") line.refuse("a node \"%N = ...\" or \"output NAME %N\" is expected");
    std::string name(line.word(""));
    Value value = parse_value(line);
    line.placed([&] { graph_.output(name, value); });
  }

  std::int64_t parse_id(Line& line) {
    std::string_view word = line.word("={:");
    auto id = parse_integer(word);
    if (!id || *id < 0) line.refuse("\"%{}\" is no value; write % and a number", shortened(word));
    return *id;
  }

  Value parse_value(Line& line) {
    if (!line.take('%')) line.refuse("a value \"%N\" is expected{}", line.here());
    std::int64_t id = parse_id(line);
    auto found = values_.find(id);
    if (found == values_.end()) line.refuse("%{} is not made by a line above", id);
    return graph_.value(found->second);
  }

  void parse_node(Line& line) {
    std::int64_t id = parse_id(line);
    if (values_.contains(id)) line.refuse("%{} is made twice", id);
    line.expect('=');
    std::string_view name = line.word("{:");
    auto op = op_from_name(name);
    if (!op) line.refuse("unknown operation \"{}\"", shortened(name));
    ValueId made = *op == OpCode::input      ? parse_input(line)
                   : *op == OpCode::constant ? parse_constant(line)
                                             : parse_operation(line, *op);
    values_.emplace(id, made);
  }

  ValueId parse_input(Line& line) {
    std::string name(line.word(""));
    line.expect(':');
    ValueType type = parse_type(line);
    return line.placed([&] { return graph_.input(name, type.dtype, type.dims).id(); });
  }

  ValueId parse_constant(Line& line) {
    std::vector<std::string_view> elements;
    // A NaN may contain a colon, so a lone one ends the elements.
    std::string_view word;
    while ((word = line.word("")) != ":") {
      if (word.empty()) line.refuse("\":\" and a type are expected after the elements");
      elements.push_back(word);
    }
    ValueType type = parse_type(line);
    Shape shape;
    for (const Dim& dim : type.dims) {
      if (!dim.is_constant()) line.refuse("a constant of size {}", dim.to_string());
      shape.push_back(dim.constant());
    }
    std::int64_t count = line.placed([&] { return element_count(shape); });
    if (count != static_cast<std::int64_t>(elements.size()))
      line.refuse("{} elements written, {} has {}", elements.size(), type_text(type), count);
    Tensor tensor = Tensor::allocate(type.dtype, shape);
    auto* to = tensor.as<char>();
    for (std::string_view element : elements) {
      if (!parse_element(element, type.dtype, to))
        line.refuse("\"{}\" is no {}", shortened(element), name_of(type.dtype));
      to += size_of(type.dtype);
    }
    return graph_.constant(tensor).id();
  }

  ValueId parse_operation(Line& line, OpCode op) {
    std::vector<Value> operands;
    while (line.next_is('%')) operands.push_back(parse_value(line));
    Attributes attributes;
    if (line.take('{')) attributes = parse_attributes(line);
    line.expect(':');
    ValueType written = parse_type(line);
    Value value = line.placed([&] { return graph_.apply(op, operands, std::move(attributes)); });
    line.placed([&] { check_attribute_names(graph_.node_of(value.id())); });
    if (value.dtype() != written.dtype || value.dims() != written.dims)
      line.refuse("type {} written, {} makes {}", type_text(written), name_of(op),
                  type_text(graph_.type(value.id())));
    return value.id();
  }

  Graph graph_;
  std::unordered_map<std::int64_t, ValueId> values_;  // by the number in the text
  std::string_view rest_;
  int number_ = 0;
};

}  // namespace

Graph Graph::from_text(std::string_view text) {
  Graph graph = Parser(text).run();
  verify(graph);
  return graph;
}

}  // namespace fuseline
