// libjpeg-turbo's own decoding of a JPEG into RGB: the floor under every command that reads one.
#include <turbojpeg.h>

#include "base/fail.hpp"
#include "bench_case.hpp"

namespace fuseline::bench {
namespace {

class JpegCase final : public BenchCase {
 public:
  explicit JpegCase(const std::string& file) : file_(std::filesystem::file_size(file)) {
    file_.read(file);
    if (!handle_) fail("libjpeg-turbo: {}", tjGetErrorStr());
    int subsampling = 0, space = 0;
    check(tjDecompressHeader3(handle_.get(), bytes(), size(), &width_, &height_, &subsampling,
                              &space));
    rgb_ = Buffer(std::size_t{3} * static_cast<std::size_t>(width_) *
                  static_cast<std::size_t>(height_));
  }

  // Flags 0: the accurate transform and smooth upsampling, as tjDecompress2 does by default.
  void run() override {
    check(tjDecompress2(handle_.get(), bytes(), size(), static_cast<unsigned char*>(rgb_.data()),
                        width_, 0, height_, TJPF_RGB, 0));
  }

  void dump(const std::filesystem::path& folder) override { rgb_.write(folder / "rgb.raw"); }

 private:
  void check(int status) const {
    if (status != 0) fail("libjpeg-turbo: {}", tjGetErrorStr2(handle_.get()));
  }
  const unsigned char* bytes() const { return static_cast<const unsigned char*>(file_.data()); }
  unsigned long size() const { return static_cast<unsigned long>(file_.size()); }

  std::unique_ptr<void, int (*)(tjhandle)> handle_{tjInitDecompress(), tjDestroy};
  Buffer file_;
  Buffer rgb_{0};
  int width_ = 0;
  int height_ = 0;
};

}  // namespace

std::unique_ptr<BenchCase> make_jpeg_case(const Arguments& arguments) {
  if (arguments.size() != 1) fail("jpeg: one file is expected");
  return std::make_unique<JpegCase>(arguments[0]);
}

}  // namespace fuseline::bench
