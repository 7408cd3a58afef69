// The ONNX project's operator cases through compiled programs on the CPU.
//
// families.txt holds what was reached: the cases that pass, the failures of each operator with a
// reason, and what is outside the denominator. None of it may get worse.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "case_file.hpp"
#include "fuseline/onnx.hpp"
#include "fuseline/program.hpp"
#include "graph/scalar.hpp"
#include "onnx/element_type.hpp"
#include "onnx/tensor_data.hpp"

namespace fuseline {
namespace {

namespace fs = std::filesystem;
using testing::Case;

// ---- comparison: shape and type equal, |a - b| <= atol + rtol |b|, NaN equals NaN

double element(const Tensor& tensor, int type, std::int64_t i) {
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  Number n = load_number(tensor.as<const char>() + i * width, tensor.dtype());
  if (onnx::is_float8(type)) return testing::float8_value(type, static_cast<int>(n.u));
  return convert(n, tensor.dtype(), DType::f64).d;
}

bool is_close(double a, double b, double rtol, double atol) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= atol + rtol * std::fabs(b);
}

std::string difference(const Tensor& ours, const Tensor& theirs, int type, double rtol,
                       double atol) {
  if (ours.dtype() != theirs.dtype()) return "element type " + std::string(name_of(ours.dtype()));
  if (ours.shape() != theirs.shape())
    return "shape " + to_string(ours.shape()) + " instead of " + to_string(theirs.shape());
  if (type == onnx::bfloat16) rtol = std::max(rtol, std::ldexp(1.0, -6));
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    double a = element(ours, type, i), b = element(theirs, type, i);
    if (is_close(a, b, rtol, atol)) continue;
    std::ostringstream text;
    text << "element " << i << " of " << ours.size() << ": " << a << " instead of " << b;
    return text.str();
  }
  return {};
}

// ---- one case

std::string run_set(const OnnxModel& model, const Case& c, const Case::Set& set) {
  onnx::TensorReader reader(nullptr, {});
  TensorMap inputs;
  for (std::size_t i = 0; i < set.inputs.size(); ++i)
    inputs.emplace_back(model.inputs().at(i).graph_name,
                        reader.read(onnx::parse_tensor(set.inputs[i])));
  CompileOptions options;
  options.device = "cpu";
  Program program = compile(model.graph(inputs), options);
  std::vector<Tensor> outputs = program.run(inputs);
  if (outputs.size() != set.outputs.size()) return "other number of outputs";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    onnx::TensorProto proto = onnx::parse_tensor(set.outputs[i]);
    std::string text = difference(outputs[i], reader.read(proto), proto.data_type, c.rtol, c.atol);
    if (!text.empty()) return "output " + std::to_string(i) + ": " + text;
  }
  return {};
}

std::string run_case(const Case& c) {
  try {
    OnnxModel model = OnnxModel::from_bytes(c.model);
    for (const Case::Set& set : c.sets)
      if (std::string text = run_set(model, c, set); !text.empty()) return text;
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

// ---- the records

struct Tally {
  int passed = 0, total = 0;
};

struct Recorded {
  int passed = 0;
  std::map<std::string, int> failing;          // by operator
  std::map<std::string, std::string> reasons;  // by operator
  std::map<std::string, int> left_out;         // by reason
};

const fs::path record_file = FUSELINE_SOURCE_DIR "/tests/conformance/families.txt";

Recorded read_recorded() {
  std::ifstream in(record_file);
  EXPECT_TRUE(in);
  Recorded recorded;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, rest;
    int count = 0;
    if (!(words >> kind) || kind[0] == '#') continue;
    words >> count;
    if (kind == "pass") recorded.passed = count;
    if (kind == "fail") {
      words >> rest;
      recorded.failing[rest] = count;
      std::getline(words >> std::ws, recorded.reasons[rest]);
    }
    if (kind == "out") {
      std::getline(words >> std::ws, rest);
      recorded.left_out[rest] = count;
    }
  }
  return recorded;
}

// With FUSELINE_TEST_WRITE=1 the record is written anew; reasons are kept, new ones are for a
// person to write.
void write_record(const std::map<std::string, Tally>& tallies, const Tally& all,
                  const fs::path& left_out) {
  Recorded old = read_recorded();
  std::ofstream out(record_file);
  out << "# The ONNX project's operator cases: what passes, what does not and why, what is "
         "outside.\n"
         "# Counts of failures and of cases outside may only shrink.\n"
         "# pass CASES of CASES / fail CASES OPERATOR REASON / out CASES REASON\n"
      << "pass " << all.passed << " of " << all.total << "\n";
  for (const auto& [name, tally] : tallies)
    if (int failing = tally.total - tally.passed)
      out << "fail " << failing << " " << name << " " << old.reasons[name] << "\n";
  std::ifstream in(left_out);
  for (std::string line; std::getline(in, line);) out << "out " << line << "\n";
}

class Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSELINE_TEST_PYTHON");
    if (!python || !*python)
      GTEST_SKIP() << "FUSELINE_TEST_PYTHON is not set; tests/python-env prints it";
    setenv("FUSELINE_CACHE_DIR", FUSELINE_BINARY_DIR "/tests/conformance/kernels", 0);
    setenv("OMP_NUM_THREADS", "1", 0);  // the cases run beside each other
    folder_ = FUSELINE_BINARY_DIR "/tests/conformance";
    fs::create_directories(folder_);
    std::string command = "'" + std::string(python) +
                          "' -B '" FUSELINE_SOURCE_DIR "/tests/conformance/make_cases.py' '" +
                          folder_.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  // Every case, on all processors; what is wrong with each.
  static std::vector<std::string> run_all(const std::vector<Case>& cases) {
    std::vector<std::string> results(cases.size());
    std::atomic<std::size_t> next = 0;
    auto work = [&] {
      for (std::size_t i = next++; i < cases.size(); i = next++) results[i] = run_case(cases[i]);
    };
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  fs::path folder_;
};

TEST_F(Conformance, compiled_programs_give_the_projects_answers) {
  std::vector<Case> cases = testing::read_cases(folder_ / "cases.bin");
  const char* only = std::getenv("FUSELINE_TEST_CASE");
  if (only)
    std::erase_if(cases, [&](const Case& c) { return c.name.find(only) == std::string::npos; });
  std::vector<std::string> results = run_all(cases);
  std::map<std::string, Tally> tallies;
  Tally all;
  std::ofstream failures(folder_ / "failures.txt");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Tally& tally = tallies[cases[i].operator_name];
    for (Tally* t : {&tally, &all}) {
      ++t->total;
      t->passed += results[i].empty();
    }
    if (!results[i].empty())
      failures << cases[i].operator_name << " " << cases[i].name << ": " << results[i] << "\n";
  }
  for (const auto& [name, tally] : tallies)
    std::printf("%-28s %4d of %4d%s\n", name.c_str(), tally.passed, tally.total,
                tally.passed < tally.total ? "  <" : "");
  std::printf("%-28s %4d of %4d = %.2f %%\n", "all", all.passed, all.total,
              100.0 * all.passed / all.total);
  if (only) return;
  if (std::getenv("FUSELINE_TEST_WRITE")) write_record(tallies, all, folder_ / "left_out.txt");
  Recorded recorded = read_recorded();
  EXPECT_GE(all.passed, recorded.passed);
  for (const auto& [name, tally] : tallies)
    EXPECT_LE(tally.total - tally.passed, recorded.failing[name]) << name;
  std::ifstream in(folder_ / "left_out.txt");
  int count = 0;
  for (std::string reason; in >> count && std::getline(in >> std::ws, reason);)
    EXPECT_LE(count, recorded.left_out[reason]) << reason;
}

}  // namespace
}  // namespace fuseline
