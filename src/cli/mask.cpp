// fuseline mask: masks and areas of pictures.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "base/path_text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/mask_account.hpp"
#include "cli/mask_batch.hpp"
#include "cli/mask_options.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline mask photo.jpg                    photo.mask.png beside it, the area\n"
    "  fuseline mask photo.jpg --threshold 90 -o m.png\n"
    "  fuseline mask scans/ -o masks/ --bits 1    a whole folder, subfolders kept\n"
    "  fuseline mask *.png --area-only --json     only count\n"
    "  fuseline mask photo.jpg --account          what fusion buys on this machine\n"
    "Without -o, the mask of NAME.jpg is NAME.mask.png beside it.\n"
    "Exit codes: 0 all pictures done, 1 some failed, 2 bad usage or input, 3 no such\n"
    "device, 130 interrupted.";

struct MaskOptions {
  MaskGraphOptions graph;
  MaskFileOptions files;
};

std::string result_line(const MaskResult& result) {
  std::string line = fmt::format("{}: {} x {}, area {} ({:.2f} %)", path_text(result.task.picture),
                                 result.width, result.height, result.area, 100 * result.fraction());
  if (!result.task.mask.empty()) line += " -> " + path_text(result.task.mask);
  return line;
}

Json result_json(const MaskResult& result) {
  Json mask = nullptr;
  if (!result.task.mask.empty()) mask = result.task.mask.string();
  return {{"file", result.task.picture.string()},
          {"width", result.width},
          {"height", result.height},
          {"area", result.area},
          {"fraction", result.fraction()},
          {"mask", std::move(mask)}};
}

// Results as they come, and what the run ends with.
class Report {
 public:
  Report(bool json, std::size_t total) : json_(json), total_(total), progress_("pictures", total) {}

  void add(const MaskResult& result) {
    if (result.failed()) {
      ++failed_;
      device_failed_ |= result.kind == ErrorKind::device;
      failures_.push_back({{"file", result.task.picture.string()}, {"error", result.error}});
      progress_.print(stderr, error_line(result.error));
    } else {
      ++done_;
      if (json_)
        images_.push_back(result_json(result));
      else
        progress_.print(stdout, result_line(result));
    }
    progress_.advance();
  }

  void finish(double seconds, const Account* account) {
    if (json_) {
      Json all = {{"images", images_}, {"failed", failures_}, {"seconds", seconds}};
      if (account) all["account"] = account_json(*account);
      print_json(all);
      return;
    }
    if (account) print_line(stdout, "\n" + account_text(*account));
    if (total_ > 1)
      print_line(stdout, fmt::format("{} of {} pictures in {:.2f} s{}", done_, total_, seconds,
                                     failed_ ? fmt::format(", {} failed", failed_) : ""));
  }

  std::size_t done() const { return done_; }
  int exit_code() const {
    if (!failed_) return exit_fine;
    if (done_) return exit_some_failed;
    return device_failed_ ? exit_device : exit_usage;
  }

 private:
  bool json_;
  std::size_t total_;
  Progress progress_;
  Json images_ = Json::array(), failures_ = Json::array();
  std::size_t done_ = 0, failed_ = 0;
  bool device_failed_ = false;
};

std::vector<MaskTask> plan(const MaskOptions& options) {
  std::vector<ImageEntry> pictures = list_pictures(options.files.inputs);
  if (options.graph.area_only) {
    if (!options.files.output.empty())
      fail("--area-only writes no mask: leave out -o or --area-only");
    std::vector<MaskTask> tasks;
    for (const ImageEntry& entry : pictures) tasks.push_back({entry.path, {}, entry.problem});
    return tasks;
  }
  return plan_masks(options.files.inputs, pictures, options.files.output);
}

int run_mask(const MaskOptions& options) {
  auto start = std::chrono::steady_clock::now();
  MaskSettings settings = options.graph.settings();
  CompileOptions compile_options = options.graph.compile_options();
  BatchOptions batch{{{options.files.pixel_limit()}, true}, options.files.one_bit()};
  options.graph.apply_threads();
  std::vector<MaskTask> tasks = plan(options);
  if (options.files.account && tasks.size() != 1)
    fail("--account measures one picture, and {} were named", tasks.size());
  catch_interrupts();
  MaskEngine engine(settings, compile_options);
  Report report(options.files.json, tasks.size());
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::optional<Account> account;
  try {
    run_masks(engine, tasks, batch, [&](const MaskResult& result) { report.add(result); });
    if (options.files.account && report.done() == 1)
      account = measure_mask(settings, compile_options, tasks.front(), batch);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    report.finish(seconds(), nullptr);
    throw Error(fmt::format("interrupted: {} of {} pictures done", report.done(), tasks.size()),
                ErrorKind::interrupted);
  }
  report.finish(seconds(), account ? &*account : nullptr);
  return report.exit_code();
}

}  // namespace

void add_mask(CLI::App& program, Run& run) {
  auto options = std::make_shared<MaskOptions>();
  CLI::App* command =
      program.add_subcommand("mask", "Masks of the pixels above a threshold, and their areas");
  options->files.add_to(*command);
  options->graph.add_to(*command);
  command->footer(examples);
  command->callback([options, &run] { run = [options] { return run_mask(*options); }; });
}

}  // namespace fuseline::cli
