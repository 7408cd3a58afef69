// Rounds of samples in random order, and the ratios of rows.
#include "cuda/harness.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>

#include "base/fail.hpp"
#include "cuda/report.hpp"

namespace fuseline::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int warm_replays = 3;
constexpr int family_rounds = 7;  // to find the fastest variants
constexpr std::size_t family_kept = 2;
constexpr int most_replays = 100000;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double wall_us(const Row& row, int times) {
  row.run(1);  // meets what the row before left in the caches
  auto start = Clock::now();
  row.run(times);
  return us_since(start);
}

}  // namespace

Harness::Harness(Session& session, MeasureOptions options)
    : session_(session), options_(std::move(options)) {
  FUSELINE_EXTRA_CUDA(event_create(&start_, 0));
  FUSELINE_EXTRA_CUDA(event_create(&end_, 0));
}

Harness::~Harness() {
  extra_driver().event_destroy(start_);
  extra_driver().event_destroy(end_);
}

void Harness::add(Row row) {
  if (row.name.find(options_.only) == std::string::npos) return;
  rows_.push_back({std::move(row), {}});
  replays_.push_back(1);
}

// One replay goes ahead of the start mark, so that the device is already at work when the host
// queues those that count.
double Harness::device_us(const Row& row, int replays) {
  row.replay(1);
  FUSELINE_EXTRA_CUDA(event_record(start_, session_.stream()));
  row.replay(replays);
  FUSELINE_EXTRA_CUDA(event_record(end_, session_.stream()));
  FUSELINE_EXTRA_CUDA(event_wait(end_));
  float ms = 0;
  FUSELINE_EXTRA_CUDA(event_elapsed(&ms, start_, end_));
  return 1e3 * static_cast<double>(ms);
}

double Harness::sample(const Row& row, int replays) {
  double us = row.replay ? device_us(row, replays) : wall_us(row, replays);
  return us / (static_cast<double>(replays) * row.units);
}

void Harness::check_rows() {
  for (Measured& measured : rows_) {
    Row& row = measured.row;
    if (!row.unavailable.empty()) continue;
    (row.replay ? row.replay : row.run)(warm_replays);
    session_.wait();
    if (row.check) row.check();
  }
}

// How many replays make a sample long enough.
void Harness::prepare(Measured& measured, int& replays) {
  const double wanted = 1e3 * options_.sample_ms;
  for (replays = 1; replays < most_replays;) {
    double us = sample(measured.row, replays) * replays * measured.row.units;
    if (us >= wanted) return;
    double more = us > 0 ? wanted / us * 1.2 : 10;
    replays =
        std::min(most_replays, std::max(replays + 1, static_cast<int>(std::ceil(replays * more))));
  }
}

// Keeps the fastest variants of each family; the medians of all are reported.
void Harness::pick_families() {
  std::map<std::string, std::vector<std::pair<double, std::size_t>>> families;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (!rows_[i].row.family.empty() && rows_[i].row.unavailable.empty())
      families[rows_[i].row.family].emplace_back(0, i);
  std::vector<bool> dropped(rows_.size());
  for (auto& [family, members] : families) {
    std::vector<std::vector<double>> samples(members.size());
    for (int round = 0; round < family_rounds; ++round)
      for (std::size_t m = 0; m < members.size(); ++m)
        samples[m].push_back(sample(rows_[members[m].second].row, replays_[members[m].second]));
    for (std::size_t m = 0; m < members.size(); ++m) {
      members[m].first = median(samples[m]);
      candidates_[family][rows_[members[m].second].row.name] = members[m].first;
    }
    std::sort(members.begin(), members.end());
    for (std::size_t m = family_kept; m < members.size(); ++m) dropped[members[m].second] = true;
  }
  std::vector<Measured> kept;
  std::vector<int> replays;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (!dropped[i]) {
      kept.push_back(std::move(rows_[i]));
      replays.push_back(replays_[i]);
    }
  rows_ = std::move(kept);
  replays_ = std::move(replays);
}

void Harness::measure() {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].row.unavailable.empty()) order.push_back(i);
  std::mt19937 random(2160);
  for (int round = 0; round < options_.rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t i : order) rows_[i].us.push_back(sample(rows_[i].row, replays_[i]));
  }
}

// The fastest of all rows and families with these names.
const Measured* Harness::find(const std::vector<std::string>& names) const {
  const Measured* best = nullptr;
  for (const Measured& measured : rows_) {
    auto named = [&](const std::string& name) {
      return measured.row.name == name || measured.row.family == name;
    };
    if (measured.us.empty() || std::none_of(names.begin(), names.end(), named)) continue;
    if (!best || median(measured.us) < median(best->us)) best = &measured;
  }
  return best;
}

Json Harness::row_json(const Measured& measured) const {
  const Row& row = measured.row;
  Json json = {{"name", row.name}};
  if (!row.unavailable.empty()) {
    json["unavailable"] = row.unavailable;
    return json;
  }
  Estimate us = measured.estimate();
  json.update({{"clock", row.replay ? "device" : "wall"},
               {"us", us.value},
               {"low", us.low},
               {"high", us.high},
               {"samples", us.n},
               {"kernels", row.facts.kernels}});
  if (row.bytes > 0) json["bytes"] = row.bytes, json["tb_s"] = row.bytes / us.value * 1e-6;
  if (row.at_most_us)
    json.update({{"at_most", *row.at_most_us}, {"met", us.value <= *row.at_most_us}});
  auto set = [&](const char* name, const auto& value) {
    if (value) json[name] = *value;
  };
  set("threads", row.facts.threads);
  set("groups", row.facts.groups);
  set("blocks", row.facts.blocks);
  set("registers", row.facts.registers);
  set("spill_bytes", row.facts.spill_bytes);
  return json;
}

Json Harness::ratio_json(const Ratio& ratio) const {
  Json json = {{"name", ratio.name}};
  const Measured *of = find({ratio.of}), *against = find(ratio.against);
  if (!of || !against) {
    json["unavailable"] = fmt::format("{} was not measured", !of ? ratio.of : ratio.against.at(0));
    return json;
  }
  const Measured &above = ratio.at_most ? *of : *against, &below = ratio.at_most ? *against : *of;
  std::vector<BlockPair> pairs;
  for (std::size_t i = 0; i < above.us.size(); ++i) pairs.push_back({above.us[i], below.us[i]});
  Estimate estimate = paired_ratio(pairs);
  json.update({{"numerator", above.row.name},
               {"denominator", below.row.name},
               {"value", estimate.value},
               {"low", estimate.low},
               {"high", estimate.high},
               {"n", estimate.n}});
  if (ratio.at_least)
    json.update({{"at_least", *ratio.at_least}, {"met", estimate.value >= *ratio.at_least}});
  if (ratio.at_most)
    json.update({{"at_most", *ratio.at_most}, {"met", estimate.value <= *ratio.at_most}});
  return json;
}

void Harness::run(const std::string& title) {
  if (rows_.empty()) fail("no row's name holds '{}'", options_.only);
  check_rows();
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].row.unavailable.empty()) prepare(rows_[i], replays_[i]);
  pick_families();
  measure();
  Json result = {{"title", title},
                 {"device", session_.device().target().name},
                 {"driver", cuda::driver().driver_version},
                 {"rounds", options_.rounds},
                 {"rows", Json::array()},
                 {"ratios", Json::array()},
                 {"candidates", candidates_},
                 {"notes", notes_}};
  for (const Measured& measured : rows_) result["rows"].push_back(row_json(measured));
  for (const Ratio& ratio : ratios_) result["ratios"].push_back(ratio_json(ratio));
  print_report(result);
  if (!options_.json_file.empty()) write_json(result, options_.json_file);
}

}  // namespace fuseline::bench
