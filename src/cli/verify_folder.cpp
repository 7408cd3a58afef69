// Running test folders.
#include "cli/verify_folder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail.hpp"
#include "cli/model_inputs.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

// Folders directly below, sorted, that `wanted` takes.
template <class Wanted>
std::vector<fs::path> folders_in(const fs::path& folder, Wanted wanted) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && wanted(entry.path())) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

bool is_test(const fs::path& folder) { return fs::exists(folder / "model.onnx"); }

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets = folders_in(folder, [](const fs::path& path) {
    return path.filename().string().starts_with("test_data_set");
  });
  if (sets.empty()) fail("{}: no test_data_set_0 in this folder", folder.string());
  return sets;
}

TensorMap read_set(const ModelFile& model, const fs::path& set) {
  TensorMap inputs;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    fs::path file = set / fmt::format("input_{}.pb", i);
    if (fs::exists(file)) inputs.emplace_back(model.inputs()[i].graph_name, read_tensor_file(file));
  }
  add_defaults(model, inputs);
  return inputs;
}

void check_test(const fs::path& folder, const CompileOptions& options, Tolerance tolerance,
                const std::string& prefix, std::vector<CheckRow>& rows) {
  ModelFile model = ModelFile::open((folder / "model.onnx").string(), options);
  for (const fs::path& set : data_sets(folder)) {
    TensorMap inputs = read_set(model, set);
    std::vector<Tensor> outputs = model.program(inputs).run(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Tensor expected = read_tensor_file(set / fmt::format("output_{}.pb", i));
      std::string name =
          fmt::format("{}{}/{}", prefix, set.filename().string(), model.outputs()[i].first);
      rows.push_back({name, difference(outputs[i], expected, tolerance)});
    }
  }
}

}  // namespace

std::vector<CheckRow> check_folder(const fs::path& folder, const CompileOptions& options,
                                   Tolerance tolerance) {
  std::vector<CheckRow> rows;
  if (is_test(folder)) {
    check_test(folder, options, tolerance, "", rows);
    return rows;
  }
  std::vector<fs::path> tests = folders_in(folder, is_test);
  if (tests.empty())
    fail("{}: neither model.onnx nor folders with one are in this folder", folder.string());
  for (const fs::path& test : tests) {
    std::string name = test.filename().string() + "/";
    try {
      check_test(test, options, tolerance, name, rows);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::device) throw;
      CheckRow row{name, {}};
      row.difference.other_type = error.what();
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace fuseline::cli
