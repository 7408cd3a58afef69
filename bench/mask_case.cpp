// One RGB frame to its mask and area, as a Program.
#include "base/fail.hpp"
#include "bench_case.hpp"
#include "fuseline/program.hpp"
#include "graphs.hpp"

namespace fuseline::bench {
namespace {

class MaskCase final : public BenchCase {
 public:
  MaskCase(const std::string& file, std::int64_t height, std::int64_t width, std::int64_t limit)
      : program_(compile(mask_graph(limit), {.device = "cpu"})),
        lane_(program_.make_lane()),
        frame_(static_cast<std::size_t>(height * width * 3)),
        mask_(static_cast<std::size_t>(height * width)),
        inputs_{{"frame", Tensor(frame_.data(), DType::u8, {height, width, 3})}},
        outputs_{{"mask", Tensor(mask_.data(), DType::u8, {height, width})},
                 {"area", Tensor(area_.data(), DType::i64, {})}} {
    frame_.read(file);
  }

  void run() override { lane_.run(inputs_, outputs_); }

  void dump(const std::filesystem::path& folder) override {
    mask_.write(folder / "mask.raw");
    area_.write(folder / "area.raw");
  }

 private:
  Program program_;
  Lane lane_;
  Buffer frame_, mask_, area_{sizeof(std::int64_t)};
  TensorMap inputs_, outputs_;
};

}  // namespace

std::unique_ptr<BenchCase> make_mask_case(const Arguments& arguments) {
  if (arguments.size() != 4) fail("mask: FRAME HEIGHT WIDTH THRESHOLD are expected");
  return std::make_unique<MaskCase>(arguments[0], parse_integer(arguments[1], "height"),
                                    parse_integer(arguments[2], "width"),
                                    parse_integer(arguments[3], "threshold"));
}

}  // namespace fuseline::bench
