// Tables of rows and ratios.
#include "cuda/report.hpp"

#include <cstdio>
#include <string>

#include "base/fail.hpp"

namespace fuseline::bench {
namespace {

std::string text_of(const Json& row, const char* key, const char* unit) {
  return row.contains(key) ? fmt::format("  {}{}", row[key].dump(), unit) : "";
}

std::string goal_of(const Json& json) {
  if (!json.contains("met")) return "";
  const char* key = json.contains("at_least") ? "at_least" : "at_most";
  return fmt::format("  goal {} {:.2f}: {}",
                     json.contains("at_least") ? ">=" : "<=", json[key].get<double>(),
                     json["met"].get<bool>() ? "met" : "MISSED");
}

void print_row(const Json& row) {
  std::string name = row["name"];
  if (row.contains("unavailable")) {
    fmt::print("{:<60} not available: {}\n", name, row["unavailable"].get<std::string>());
    return;
  }
  std::string speed = row.contains("tb_s")
                          ? fmt::format("  {:6.3f} TB/s of {:.1f} MB", row["tb_s"].get<double>(),
                                        row["bytes"].get<double>() * 1e-6)
                          : "";
  fmt::print("{:<60} {:9.3f} us [{:.3f}, {:.3f}] {}{}{}{}{}{}{}{}{}\n", name,
             row["us"].get<double>(), row["low"].get<double>(), row["high"].get<double>(),
             row["clock"].get<std::string>(), speed, text_of(row, "kernels", " kernels"),
             text_of(row, "blocks", " blocks"), text_of(row, "threads", " threads"),
             text_of(row, "groups", " groups"), text_of(row, "registers", " registers"),
             text_of(row, "spill_bytes", " bytes spilled"), goal_of(row));
}

void print_ratio(const Json& ratio) {
  std::string name = ratio["name"];
  if (ratio.contains("unavailable")) {
    fmt::print("{:<60} not available: {}\n", name, ratio["unavailable"].get<std::string>());
    return;
  }
  fmt::print("{:<60} {:9.3f} [{:.3f}, {:.3f}]{}  ({} / {})\n", name, ratio["value"].get<double>(),
             ratio["low"].get<double>(), ratio["high"].get<double>(), goal_of(ratio),
             ratio["numerator"].get<std::string>(), ratio["denominator"].get<std::string>());
}

}  // namespace

void print_report(const Json& result) {
  fmt::print("{}\n{}, driver {}, {} rounds\n\n", result["title"].get<std::string>(),
             result["device"].get<std::string>(), result["driver"].get<int>(),
             result["rounds"].get<int>());
  for (const Json& row : result["rows"]) print_row(row);
  fmt::print("\n");
  for (const Json& ratio : result["ratios"]) print_ratio(ratio);
  for (const auto& [family, variants] : result["candidates"].items()) {
    fmt::print("\nvariants of {}, us:\n", family);
    for (const auto& [name, us] : variants.items())
      fmt::print("  {:<56} {:9.3f}\n", name, us.get<double>());
  }
  for (const auto& [name, value] : result["notes"].items())
    fmt::print("{}{}: {}\n", name == result["notes"].begin().key() ? "\n" : "", name, value.dump());
}

void write_json(const Json& result, const std::string& file) {
  std::FILE* out = std::fopen((file + ".part").c_str(), "wb");
  if (!out) fail("{}: cannot be written", file);
  print_json(result, out);
  if (std::fclose(out) != 0 || std::rename((file + ".part").c_str(), file.c_str()) != 0)
    fail("{}: could not be written", file);
}

}  // namespace fuseline::bench
