// Writing and reading saved Programs.
//
//   0   magic "FUSEPROG"
//   8   u32 format, u32 0
//   16  u64 header bytes, u64 file bytes
//   32  u64 checksum of the header, u64 checksum of what follows it
//   48  header (JSON), then tensors, each at a multiple of 64 bytes
#include "program/saved_program.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "base/mapped_file.hpp"
#include "base/output_file.hpp"
#include "base/path_text.hpp"

namespace fuseline {
namespace {

constexpr char magic[8] = {'F', 'U', 'S', 'E', 'P', 'R', 'O', 'G'};
constexpr std::size_t alignment = 64;

struct Prefix {
  char magic[8];
  std::uint32_t format, zero;
  std::uint64_t header_bytes, file_bytes;
  std::uint64_t header_sum, body_sum;
};
static_assert(sizeof(Prefix) == 48);

std::size_t aligned(std::size_t at) { return (at + alignment - 1) / alignment * alignment; }

std::span<const std::uint8_t> bytes_of(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), size};
}

// ---- writing

// Tensors in the order in which they are placed; offsets count from the end of the header.
class Body {
 public:
  Json add(const Tensor& tensor) {
    Tensor dense = tensor;
    require(dense.is_dense(), "saved tensors are dense");
    std::size_t at = aligned(size_);
    tensors_.emplace_back(at, dense);
    size_ = at + static_cast<std::size_t>(dense.bytes());
    return {{"type", name_of(dense.dtype())}, {"shape", dense.shape()}, {"at", at}};
  }
  // Gaps are zeros. `emit` is called with pieces in order.
  template <class Emit>
  void each_piece(Emit emit) const {
    static constexpr std::uint8_t zeros[alignment] = {};
    std::size_t done = 0;
    for (const auto& [at, tensor] : tensors_) {
      emit(std::span(zeros).first(at - done));
      emit(bytes_of(tensor.data(), static_cast<std::size_t>(tensor.bytes())));
      done = at + static_cast<std::size_t>(tensor.bytes());
    }
  }
  std::size_t size() const { return size_; }

 private:
  std::vector<std::pair<std::size_t, Tensor>> tensors_;
  std::size_t size_ = 0;
};

Json tensors_json(const TensorMap& tensors, Body& body) {
  Json list = Json::array();
  for (const auto& [name, tensor] : tensors) {
    Json entry = body.add(tensor);
    entry["name"] = name;
    list.push_back(std::move(entry));
  }
  return list;
}

// Names once each, and for every node the position of its own.
Json origins_json(const Graph& graph) {
  Json names = Json::array(), positions = Json::array();
  std::map<std::string, std::size_t> known;
  for (const Node& node : graph.nodes()) {
    auto [found, added] = known.try_emplace(node.origin, known.size());
    if (added) names.push_back(node.origin);
    positions.push_back(found->second);
  }
  return {{"names", names}, {"of_node", positions}};
}

Json options_json(const CompileOptions& options) {
  return {{"fusion", options.fusion},
          {"parity", options.parity},
          {"precision", name_of(options.precision)},
          {"keep_fp32", options.keep_fp32},
          {"disabled_passes", options.disabled_passes}};
}

std::string header_of(const SavedProgram& program, Body& body) {
  TensorMap constants;
  std::string text = program.graph.to_text(&constants);
  Json json = {{"device", program.device},
               {"channel_block", program.channel_block},
               {"options", options_json(program.options)},
               {"graph", text},
               {"constants", tensors_json(constants, body)},
               {"origins", origins_json(program.graph)},
               {"notes", program.notes.text},
               {"tensors", tensors_json(program.notes.tensors, body)}};
  std::string header = json_text(json, -1);
  header.append(aligned(sizeof(Prefix) + header.size()) - sizeof(Prefix) - header.size(), ' ');
  return header;
}

// ---- reading

class Reader {
 public:
  Reader(MappedFile file, std::string_view path) : file_(std::move(file)), path_(path) {}

  SavedProgram run() {
    std::string_view header = checked_header();
    Json json = Json::parse(header, nullptr, false);
    if (json.is_discarded()) refuse("its header is no JSON");
    try {
      return program_of(json);
    } catch (const Json::exception&) {
      refuse("its header lacks something");
    }
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: damaged: {}; compile the model again", path_text(path_),
         fmt::format(format, std::forward<Args>(args)...));
  }

  std::string_view checked_header() {
    Prefix prefix;
    std::string_view bytes = file_.bytes;
    if (bytes.size() < sizeof prefix || std::memcmp(bytes.data(), magic, sizeof magic) != 0)
      fail("{}: not a compiled model", path_text(path_));
    std::memcpy(&prefix, bytes.data(), sizeof prefix);
    if (prefix.format != saved_format)
      fail("{}: format {}, but this Fuseline reads format {}; compile the model again",
           path_text(path_), prefix.format, saved_format);
    if (prefix.file_bytes != bytes.size())
      refuse("{} bytes, its header says {}", bytes.size(), prefix.file_bytes);
    if (prefix.zero != 0 || prefix.header_bytes > bytes.size() - sizeof prefix)
      refuse("its header does not fit");
    std::string_view header = bytes.substr(sizeof prefix, prefix.header_bytes);
    body_ = bytes.substr(sizeof prefix + prefix.header_bytes);
    if (XXH3_64bits(header.data(), header.size()) != prefix.header_sum ||
        XXH3_64bits(body_.data(), body_.size()) != prefix.body_sum)
      refuse("its checksum is wrong");
    return header;
  }

  Tensor tensor_of(const Json& entry) const {
    std::string type = entry.at("type");
    auto dtype = dtype_from_name(type);
    if (!dtype) refuse("element type \"{}\"", type);
    Shape shape = entry.at("shape").get<Shape>();
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 0; }))
      refuse("a tensor of shape {}", to_string(shape));
    std::uint64_t at = entry.at("at").get<std::uint64_t>();
    std::uint64_t elements = 0;
    try {
      elements = static_cast<std::uint64_t>(element_count(shape));
    } catch (const Error&) {
      refuse("a tensor of shape {}", to_string(shape));
    }
    bool fits = at % size_of(*dtype) == 0 && at <= body_.size() &&
                elements <= (body_.size() - at) / size_of(*dtype);
    if (!fits) refuse("a tensor lies outside the file");
    const char* data = body_.data() + at;
    return Tensor::shared(file_.owner, const_cast<char*>(data), *dtype, std::move(shape));
  }

  TensorMap tensors_of(const Json& list) const {
    TensorMap tensors;
    for (const Json& entry : list)
      tensors.emplace_back(entry.at("name").get<std::string>(), tensor_of(entry));
    return tensors;
  }

  CompileOptions options_of(const Json& json) const {
    CompileOptions options;
    options.fusion = json.at("fusion");
    options.parity = json.at("parity");
    std::string precision = json.at("precision");
    options.precision = precision == "bf16"   ? Precision::bf16
                        : precision == "fp16" ? Precision::fp16
                                              : Precision::fp32;
    options.keep_fp32 = json.at("keep_fp32").get<std::vector<std::string>>();
    options.disabled_passes = json.at("disabled_passes").get<std::vector<std::string>>();
    return options;
  }

  // Inputs that stand for constants become them; nodes keep their order, and so their origins.
  Graph graph_of(const Json& json) const {
    Graph text = Graph::from_text(json.at("graph").get<std::string>());
    std::map<std::string, Tensor> constants;
    for (auto& [name, tensor] : tensors_of(json.at("constants"))) constants[name] = tensor;
    auto names = json.at("origins").at("names").get<std::vector<std::string>>();
    auto of_node = json.at("origins").at("of_node").get<std::vector<std::size_t>>();
    if (of_node.size() != text.nodes().size()) refuse("names for {} nodes", of_node.size());
    Graph graph;
    std::vector<Value> made;
    for (const Node& node : text.nodes()) {
      std::size_t origin = of_node[made.size()];
      if (origin >= names.size()) refuse("a node without a name");
      graph.set_origin(names[origin]);
      made.push_back(copied(graph, text, node, made, constants));
    }
    graph.set_origin({});
    if (!constants.empty()) refuse("a constant that the graph does not have");
    for (const NamedValue& output : text.outputs()) graph.output(output.name, made[output.value]);
    return graph;
  }

  Value copied(Graph& graph, const Graph& text, const Node& node, const std::vector<Value>& made,
               std::map<std::string, Tensor>& constants) const {
    const ValueType& type = text.type(node.output);
    if (node.op == OpCode::input) {
      const std::string& name = node.attributes.text("name");
      auto constant = constants.find(name);
      if (constant == constants.end()) return graph.input(name, type.dtype, type.dims);
      Value value = graph.apply(OpCode::constant, {}, {{"value", constant->second}});
      if (value.dtype() != type.dtype || value.dims() != type.dims)
        refuse("constant {} is another than the graph says", name);
      constants.erase(constant);
      return value;
    }
    std::vector<Value> operands;
    for (ValueId input : node.inputs) operands.push_back(made[input]);
    return graph.apply(node.op, operands, node.attributes);
  }

  SavedProgram program_of(const Json& json) const {
    SavedProgram program;
    program.device = json.at("device");
    program.channel_block = json.at("channel_block");
    program.options = options_of(json.at("options"));
    program.notes.text = json.at("notes");
    program.notes.tensors = tensors_of(json.at("tensors"));
    try {
      program.graph = graph_of(json);
    } catch (const Error& error) {
      std::string what = error.what();
      if (what.starts_with(path_text(path_))) throw;
      refuse("{}", what);
    }
    return program;
  }

  MappedFile file_;
  std::string path_;
  std::string_view body_;
};

}  // namespace

std::string_view name_of(Precision precision) {
  return precision == Precision::bf16 ? "bf16" : precision == Precision::fp16 ? "fp16" : "fp32";
}

namespace {

std::uint64_t checksum_of(const Body& body) {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                 &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  body.each_piece([&](std::span<const std::uint8_t> piece) {
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
  });
  return XXH3_64bits_digest(state.get());
}

}  // namespace

void write_saved(const std::string& path, const SavedProgram& program) {
  Body body;
  std::string header = header_of(program, body);
  Prefix prefix{};
  std::memcpy(prefix.magic, magic, sizeof magic);
  prefix.format = saved_format;
  prefix.header_bytes = header.size();
  prefix.file_bytes = sizeof prefix + header.size() + body.size();
  prefix.header_sum = XXH3_64bits(header.data(), header.size());
  prefix.body_sum = checksum_of(body);
  OutputFile file(path);
  file.write(bytes_of(&prefix, sizeof prefix));
  file.write(bytes_of(header.data(), header.size()));
  body.each_piece([&](std::span<const std::uint8_t> piece) {
    if (!piece.empty()) file.write(piece);
  });
  file.commit();
}

SavedProgram read_saved(const std::string& path) { return Reader(map_file(path), path).run(); }

}  // namespace fuseline
