// Declaration and checks of the options of `fuseline bench`.
#include "cli/bench_options.hpp"

#include <charconv>
#include <cmath>

#include "base/fail.hpp"
#include "cli/parse.hpp"

namespace fuseline::cli {
namespace {

constexpr double most_seconds = 86400;

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

void BenchOptions::add_to(CLI::App& app) {
  auto add = [&](const char* names, std::string& value, const char* type, const char* help) {
    app.add_option(names, value, help)->type_name(type);
  };
  app.add_option("COMMAND", command, "Behind --: a program or a Fuseline command")->type_name("");
  app.add_option("--before", before, "Words of the first side, put behind COMMAND")
      ->type_name("OPTS");
  app.add_option("--after", after, "Words of the second side; K.cu: a kernel instead of ours")
      ->type_name("OPTS");
  add("--runs", runs, "N", "Exactly N measured runs of each side");
  add("--seconds", seconds, "S", "Time to spend at most (10; two sides: 60)");
  add("--timeout", timeout, "S", "End a run that takes longer, and fail (600)");
  add("--rate", rate, "KIND:N", "Load of N starts a second: fixed:N or poisson:N");
  add("--target", target, "TIME", "Deadline of a run: 33ms, 1.5s, 500us");
  add("--items", items, "N", "Project the cost of N items; when the start pays off");
  add("--threshold", threshold, "PERCENT", "Smaller effects do not matter (2)");
  add("--kernels", kernels, "STAGE", "The marked stage that is kernels (kernels)");
  add("--per", per, "STAGE", "Account the median STAGE of a run, not the process");
  add("--name", name, "NAME", "Name of the run in the ledger");
  app.add_flag("--no-store", no_store, "Keep nothing in the ledger");
  app.add_flag("--same-output", same_output, "Fail if the output changes between runs");
  app.add_flag("--gate", gate, "Exit 1 if slower or too late, 4 if inconclusive");
  app.add_flag("--json", json, "Print the result as JSON");
}

std::vector<RunSide> BenchOptions::sides() const {
  if (before.has_value() != after.has_value())
    fail("bench: --before and --after go together; leave both out to measure one side");
  if (before) {
    std::vector<std::string> first = split_words("--before", *before);
    std::vector<std::string> second = split_words("--after", *after);
    if (command.empty() && (first.empty() || second.empty()))
      fail("bench: name a command behind --, as in `fuseline bench -- sleep 0.1`");
    return {{"before", *before, joined(command, first), {}},
            {"after", *after, joined(command, second), {}}};
  }
  if (command.empty()) fail("bench: name a command behind --, as in `fuseline bench -- sleep 0.1`");
  return {{"run", "", command, {}}};
}

RunSettings BenchOptions::settings() const {
  RunSettings settings;
  settings.threshold = parse_number("--threshold", threshold, 0, 100) / 100;
  settings.kernels = kernels;
  if (!target.empty()) settings.target_ms = parse_milliseconds("--target", target);
  if (!items.empty()) settings.items = parse_integer("--items", items, 1, 1'000'000'000'000);
  settings.rate = rate;
  settings.per = per;
  if (gate && !after && target.empty())
    fail("--gate needs two sides (--before, --after) or a --target");
  if (!name.empty() && name.find_first_not_of("0123456789") == name.npos)
    fail("--name: \"{}\" would be taken for a number of the ledger; use a letter in it", name);
  if (name == "last" || name.starts_with("last~"))
    fail("--name: \"{}\" means the newest run; use another name", name);
  return settings;
}

BenchPlan BenchOptions::plan() const {
  constexpr double one_side = 10, two_sides = 60;
  BenchPlan plan;
  plan.seconds = after ? two_sides : one_side;
  if (after) plan.least_runs = 2 * fewest_blocks_for_verdict;
  if (!seconds.empty()) plan.seconds = parse_number("--seconds", seconds, 0.001, most_seconds);
  if (after) plan.precision = parse_number("--threshold", threshold, 0, 100) / 100 / 3;
  if (!runs.empty()) {
    plan.most_runs = static_cast<std::size_t>(parse_integer("--runs", runs, 2, 10'000'000));
    plan.most_runs += after ? plan.most_runs % 2 : 0;
    plan.least_runs = plan.most_runs;
    plan.precision = 0;
  }
  return plan;
}

std::optional<KernelFiles> BenchOptions::kernels_to_compare() const {
  auto is_kernel = [](const std::vector<std::string>& words) {
    return words.size() == 1 && words.front().ends_with(".cu");
  };
  if (!after) return std::nullopt;
  std::vector<std::string> second = split_words("--after", *after);
  if (!is_kernel(second)) return std::nullopt;
  KernelFiles files{"", second.front()};
  if (before) {
    std::vector<std::string> first = split_words("--before", *before);
    if (!is_kernel(first))
      fail("bench: --after {} is a kernel; --before names another K.cu, or is left out for ours",
           files.after);
    files.before = first.front();
  }
  if (!rate.empty() || !per.empty())
    fail("bench: frames with kernels are measured one by one; leave out --rate and --per");
  return files;
}

std::optional<BenchLoad> BenchOptions::load() const {
  if (rate.empty()) return std::nullopt;
  if (!per.empty()) fail("--rate counts whole processes; leave out --per");
  if (before) fail("--rate measures one side; leave out --before and --after");
  std::size_t colon = rate.find(':');
  std::string kind = parse_choice("--rate", rate.substr(0, colon), {"fixed", "poisson"});
  if (colon == rate.npos) fail("--rate: say how many a second, as in {}:30", kind);
  return BenchLoad{kind == "fixed" ? Arrivals::fixed : Arrivals::poisson,
                   parse_number("--rate", rate.substr(colon + 1), 0.001, 1e6)};
}

double BenchOptions::timeout_seconds() const {
  return parse_number("--timeout", timeout, 0.001, most_seconds);
}

double parse_number(std::string_view option, const std::string& text, double low, double high) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high))
    fail("{}: \"{}\" is not a number from {} to {}", option, text, low, high);
  return value;
}

double parse_milliseconds(std::string_view option, const std::string& text) {
  std::size_t unit = text.find_last_of("0123456789.");
  unit = unit == text.npos ? 0 : unit + 1;
  std::string name = text.substr(unit);
  double factor = name.empty() || name == "ms" ? 1 : name == "s" ? 1e3 : name == "us" ? 1e-3 : 0;
  if (factor == 0 || unit == 0)
    fail("{}: \"{}\" is not a time such as 33ms, 1.5s or 500us", option, text);
  return factor * parse_number(option, text.substr(0, unit), 1e-6, 1e9);
}

std::vector<std::string> split_words(std::string_view option, const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
      inside = true;
    } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      if (inside) words.push_back(word);
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (quote) fail("{}: a quote ({}) is not closed in: {}", option, quote, text);
  if (inside) words.push_back(word);
  return words;
}

}  // namespace fuseline::cli
