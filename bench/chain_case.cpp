// A chain of elementwise operations on a square f32 tensor, as a Program.
#include <charconv>

#include "base/fail.hpp"
#include "bench_case.hpp"
#include "fuseline/program.hpp"
#include "graphs.hpp"

namespace fuseline::bench {
namespace {

class ChainCase final : public BenchCase {
 public:
  ChainCase(const std::string& file, std::int64_t side, const ChainNumbers& numbers)
      : program_(compile(chain_graph(numbers), {.device = "cpu"})),
        lane_(program_.make_lane()),
        x_(static_cast<std::size_t>(side * side) * sizeof(float)),
        y_(x_.size()),
        inputs_{{"x", Tensor(x_.data(), DType::f32, {side, side})}},
        outputs_{{"y", Tensor(y_.data(), DType::f32, {side, side})}} {
    x_.read(file);
  }

  void run() override { lane_.run(inputs_, outputs_); }
  void dump(const std::filesystem::path& folder) override { y_.write(folder / "y.raw"); }

 private:
  Program program_;
  Lane lane_;
  Buffer x_, y_;
  TensorMap inputs_, outputs_;
};

double parse_number(const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    fail("chain: '{}' is not a number", text);
  return value;
}

}  // namespace

std::unique_ptr<BenchCase> make_chain_case(const Arguments& arguments) {
  if (arguments.size() != 5) fail("chain: FILE SIDE A B C are expected");
  ChainNumbers numbers{parse_number(arguments[2]), parse_number(arguments[3]),
                       parse_number(arguments[4])};
  return std::make_unique<ChainCase>(arguments[0], parse_integer(arguments[1], "side"), numbers);
}

}  // namespace fuseline::bench
