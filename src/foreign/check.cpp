// Compile, run over all cases, compare.
#include "foreign/check.hpp"

#include <charconv>

#include "base/fail.hpp"

namespace fuseline::foreign {
namespace {

constexpr int usual_sm = 90;

struct Target {
  bool is_cuda = false;
  int index = 0;
  int sm = usual_sm;
};

int index_in(const std::string& device) {
  if (device.find(':') == device.npos) return 0;
  std::string digits = device.substr(device.find(':') + 1);
  int index = -1;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || index < 0)
    fail("\"{}\" is no device; use auto, cpu, cuda or cuda:N", device);
  return index;
}

Target choose_target(const CheckOptions& options) {
  Target target;
  target.index = index_in(options.device);
  if (options.device != "cpu") {
    std::string reason;
    int sm = cuda_architecture(target.index, &reason);
    if (sm == 0 && options.device != "auto")
      fail_device("device {} cannot be used: {}", options.device, reason);
    target.is_cuda = sm != 0;
    if (sm) target.sm = sm;
  }
  if (options.sm && target.is_cuda && options.sm != target.sm)
    fail("--arch sm_{}: the device is an sm_{}; add --device cpu to compile for another one",
         options.sm, target.sm);
  if (options.sm) target.sm = options.sm;
  return target;
}

std::string bases_text(const std::vector<Buffer>& buffers) {
  std::string text;
  for (const Buffer& buffer : buffers)
    text +=
        fmt::format("{}{}+{}", text.empty() ? "" : " ", buffer.argument().name, buffer.offset());
  return text;
}

std::vector<Buffer> prepared(const Contract& contract, const Case& tried, const Offsets& offsets) {
  std::vector<Buffer> buffers;
  std::size_t input = 0;
  for (std::size_t i = 0; i < contract.arguments.size(); ++i) {
    const Argument& argument = contract.arguments[i];
    buffers.emplace_back(argument, shape_of(argument.dims, tried.sizes), offsets[i]);
    buffers.back().prepare(argument.is_output ? nullptr : &tried.inputs[input++].second);
  }
  return buffers;
}

class Checker {
 public:
  Checker(const Contract& contract, Runner& runner, Report& report, const CheckOptions& options)
      : contract_(contract), runner_(runner), report_(report), options_(options) {
    sizes_ = sizes_to_try(contract);
    for (std::size_t i = 0; i < sizes_.size(); ++i) report_.planned += placements(false);
  }

  void run() {
    for (std::size_t i = 0; i < sizes_.size() && !runner_.is_lost(); ++i) run_size(i);
    if (report_.runs == 0 && report_.faults.empty())
      fail("kernel check: the graph takes none of the sizes that were tried: {}",
           report_.skipped.empty() ? "there are none" : report_.skipped.front());
  }

 private:
  int placements(bool few) const {
    return static_cast<int>(offsets_to_try(contract_, report_.wish.align, few).size());
  }

  void run_size(std::size_t number) {
    Case tried;
    try {
      tried = make_case(contract_, sizes_[number], number);
    } catch (const Error& error) {
      report_.skipped.push_back(error.what());
      report_.planned -= placements(false);
      return;
    }
    std::vector<Offsets> all = offsets_to_try(contract_, report_.wish.align, tried.is_large);
    report_.planned -= placements(false) - static_cast<int>(all.size());
    for (std::size_t i = 0; i < all.size() && !runner_.is_lost(); ++i) run_once(tried, all[i], i);
  }

  void run_once(const Case& tried, const Offsets& offsets, std::uint64_t order) {
    std::vector<Buffer> buffers = prepared(contract_, tried, offsets);
    ForeignLaunch launch;
    launch.wish = report_.wish;
    launch.grid = grid_over(report_.wish, tried.space);
    launch.order = order;
    for (const std::string& symbol : contract_.symbols)
      launch.sizes.push_back(static_cast<int>(tried.sizes.find(symbol)->second));
    std::vector<Fault> faults;
    if (std::string what = runner_.run(buffers, launch); !what.empty()) {
      Fault fault;
      fault.what = std::move(what);
      faults.push_back(std::move(fault));
    } else {
      faults = inspect(tried, buffers);
    }
    ++report_.runs;
    report_.failed += !faults.empty();
    for (Fault& fault : faults) {
      fault.sizes = tried.label;
      fault.bases = bases_text(buffers);
      report_.faults.push_back(std::move(fault));
    }
    if (options_.progress) options_.progress(report_.runs, report_.planned);
  }

  const Contract& contract_;
  Runner& runner_;
  Report& report_;
  const CheckOptions& options_;
  std::vector<DimBindings> sizes_;
};

}  // namespace

Report check_kernel(const std::string& text, const std::string& file, const Contract& contract,
                    const CheckOptions& options) {
  Report report;
  report.wish = read_wish(text, file);
  Target target = choose_target(options);
  // A wrong text is the compiler's to explain; a right one without the function is ours.
  report.compiled = compile_foreign(text, file, contract, report.wish, target.sm);
  report.rejection = report.compiled.rejection;
  if (std::string missing = missing_function(text, contract); !missing.empty())
    report.rejection = file + " " + missing;
  if (!report.rejection.empty()) return report;
  std::unique_ptr<Runner> runner;
  if (target.is_cuda) {
    if (!report.compiled.missing.empty())
      fail_device("the kernel cannot be compiled: {}", report.compiled.missing);
    runner = make_cuda_runner(report.compiled.image, contract, target.index);
  } else {
    try {
      runner = make_host_runner(text, file, contract, report.wish);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;
      report.rejection = error.what();
      return report;
    }
  }
  report.runner = runner->name();
  Checker(contract, *runner, report, options).run();
  return report;
}

}  // namespace fuseline::foreign
