// NPP's mask: gray, compare, count in range, as people chain them; NPP is opened at run time.
#include <array>

#include "base/fail.hpp"
#include "cuda/benchmarks.hpp"
#include "device/cuda/library.hpp"

namespace fuseline::bench {
namespace {

using Byte = unsigned char;
struct Size {
  int width, height;
};
// NppStreamContext of NPP 12 and 13.
struct StreamContext {
  driver_api::Stream stream;
  int device, processors, processor_threads, block_threads;
  std::size_t shared_bytes;
  int major, minor;
  unsigned stream_flags;
  unsigned reserved;
};
constexpr int compare_greater = 4;

struct Npp {
  int (*gray)(const Byte*, int, Byte*, int, Size, StreamContext) = nullptr;
  int (*compare)(const Byte*, int, Byte, Byte*, int, Size, int, StreamContext) = nullptr;
  int (*count)(const Byte*, int, Size, int*, Byte, Byte, Byte*, StreamContext) = nullptr;
  int (*count_bytes)(Size, std::size_t*, StreamContext) = nullptr;
  std::string missing, path;
};

template <class Function>
void resolve(Npp& npp, const char* stem, Function*& function, const char* symbol) {
  std::array<std::string, 3> names = {fmt::format("lib{}.so.13", stem),
                                      fmt::format("lib{}.so.12", stem),
                                      fmt::format("lib{}.so", stem)};
  const char* texts[] = {names[0].c_str(), names[1].c_str(), names[2].c_str()};
  cuda::Library library(texts);
  library.resolve(function, symbol);
  if (!library && npp.missing.empty()) npp.missing = library.reason();
  npp.path = library.path();
}

Npp open_npp() {
  Npp npp;
  // The others need it; opened first, it is found wherever they are.
  int (*version)() = nullptr;
  resolve(npp, "nppc", version, "nppGetLibVersion");
  resolve(npp, "nppicc", npp.gray, "nppiRGBToGray_8u_C3C1R_Ctx");
  resolve(npp, "nppitc", npp.compare, "nppiCompareC_8u_C1R_Ctx");
  resolve(npp, "nppist", npp.count, "nppiCountInRange_8u_C1R_Ctx");
  resolve(npp, "nppist", npp.count_bytes, "nppiCountInRangeGetBufferHostSize_8u_C1R_Ctx");
  return npp;
}

StreamContext stream_context(Session& session) {
  StreamContext context = {};
  context.stream = session.stream();
  context.device = session.device().id().index;
  context.processors = session.attribute(driver_api::attribute_processors);
  context.processor_threads = session.attribute(attribute_processor_threads);
  context.block_threads = session.attribute(attribute_block_threads);
  context.shared_bytes = static_cast<std::size_t>(session.attribute(attribute_shared_bytes));
  context.major = session.attribute(driver_api::attribute_major);
  context.minor = session.attribute(driver_api::attribute_minor);
  context.stream_flags = driver_api::stream_non_blocking;
  return context;
}

void check_npp(int status, const char* call) {
  if (status < 0) fail_device("NPP: {} failed with status {}", call, status);
}

class NppMask {
 public:
  NppMask(Session& session, Npp npp, const NppFrames& frames)
      : npp_(std::move(npp)), context_(stream_context(session)), frames_(frames) {
    std::size_t bytes = 0;  // NPP 12's int fits, too
    check_npp(npp_.count_bytes({frames.width, frames.height}, &bytes, context_),
              "size of a buffer");
    scratch_ = reinterpret_cast<Byte*>(session.allocate(bytes + 256));
    gray_ = reinterpret_cast<Byte*>(
        session.allocate(static_cast<std::size_t>(frames.width) * frames.height));
    area_ = reinterpret_cast<int*>(session.allocate(256));
    launch(0);  // what NPP sets up at its first call cannot be captured
    session.wait();
    FUSELINE_EXTRA_CUDA(capture_begin(session.stream(), capture_relaxed));
    driver_api::Graph graph = nullptr;
    std::string failure;
    try {
      for (std::size_t i = 0; i < frames.frames.size(); ++i) launch(i);
    } catch (const Error& error) {
      failure = error.what();
    }
    driver_api::Result ended = extra_driver().capture_end(session.stream(), &graph);
    if (!failure.empty()) fail_device("{} (in a recording)", failure);
    cuda::check(ended, "capture_end of NPP's calls");
    recorded_ = std::make_unique<Recorded>(session, graph);
  }

  void replay(int times) const { recorded_->replay(times); }

 private:
  void launch(std::size_t i) {
    Size size = {frames_.width, frames_.height};
    auto* frame = static_cast<const Byte*>(frames_.frames[i]);
    auto* mask = static_cast<Byte*>(frames_.masks[i]);
    check_npp(npp_.gray(frame, 3 * size.width, gray_, size.width, size, context_), "RGBToGray");
    check_npp(npp_.compare(gray_, size.width, static_cast<Byte>(frames_.limit), mask, size.width,
                           size, compare_greater, context_),
              "CompareC");
    check_npp(npp_.count(mask, size.width, size, area_, 255, 255, scratch_, context_),
              "CountInRange");
  }

  Npp npp_;
  StreamContext context_;
  NppFrames frames_;
  Byte *scratch_ = nullptr, *gray_ = nullptr;
  int* area_ = nullptr;
  std::unique_ptr<Recorded> recorded_;
};

}  // namespace

Row npp_row(Session& session, const NppFrames& frames, double bytes) {
  Row row;
  row.name = "NPP";
  row.bytes = bytes;
  row.units = static_cast<int>(frames.frames.size());
  row.facts.kernels = 3;  // calls; NPP may launch more
  Npp npp = open_npp();
  row.unavailable = npp.missing;
  if (!npp.missing.empty()) return row;
  try {
    auto mask = std::make_shared<NppMask>(session, std::move(npp), frames);
    row.replay = [mask](int n) { mask->replay(n); };
  } catch (const Error& error) {
    row.unavailable = error.what();
  }
  return row;
}

}  // namespace fuseline::bench
