// Records to and from what the ledger keeps.
#include "ledger/run_record.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace fuseline {
namespace {

constexpr const char* row_prefix = "row:";
constexpr const char* busy_prefix = "busy:";
constexpr const char* resource_prefix = "resource:";

std::vector<double> block_means(const std::vector<double>& runs) {
  std::vector<double> blocks;
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2)
    blocks.push_back((runs[i] + runs[i + 1]) / 2);
  return blocks;
}

void add_pairs(std::vector<BlockPair>& pairs, const std::vector<double>& runs) {
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2) pairs.push_back({runs[i], runs[i + 1]});
}

// Rows of both sides; "sync" and "unexplained" last.
std::vector<std::string> all_rows(const RunRecord& record) {
  std::vector<std::string> names;
  for (const RunSide& side : record.sides)
    for (const std::string& name : side.series.row_names)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  auto place = [](const std::string& name) {
    return name == unexplained_row        ? 3
           : name == sync_row             ? 2
           : name.starts_with("overlap{") ? 1
                                          : 0;
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return names;
}

std::string side_text(const RunSide& side) {
  return side.options.empty() ? command_text(side.command) : side.options;
}

Json side_json(const RunSide& side) {
  return {{"label", side.label},
          {"options", side.options},
          {"command", side.command},
          {"steady", side.series.steady},
          {"moving", side.series.moving},
          {"different_outputs", side.series.different_outputs},
          {"trace", trace_json(side.series.trace)}};
}

RunSide side_from(const Json& json) {
  RunSide side;
  side.label = json.at("label");
  side.options = json.at("options");
  side.command = json.at("command").get<std::vector<std::string>>();
  side.series.steady = json.at("steady");
  side.series.moving = json.value("moving", "");
  side.series.different_outputs = json.at("different_outputs");
  if (json.contains("trace")) side.series.trace = trace_from(json["trace"]);
  return side;
}

NullKernels null_kernels_from(const Json& json) {
  NullKernels null{{}, json.value("why_not", "")};
  if (const Json saved = json.value("saved_ms", Json()); saved.is_object())
    null.saved_ms = Estimate{saved.at("value"), saved.at("low"), saved.at("high"), 0};
  return null;
}

RunSettings settings_from(const Json& json) {
  RunSettings settings;
  settings.threshold = json.at("threshold");
  settings.kernels = json.at("kernels");
  settings.target_ms = json.at("target_ms");
  settings.items = json.at("items");
  settings.rate = json.at("rate");
  settings.per = json.value("per", "");
  return settings;
}

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
}

}  // namespace

Account account_of(const RunRecord& record) {
  require(record.two_sided(), "an account of one side");
  const RunSide &before = record.sides[0], &after = record.sides[1];
  Account account;
  account.title = command_text(before.command);
  if (!record.settings.per.empty()) account.title += ", per " + record.settings.per;
  account.before = side_text(before);
  account.after = side_text(after);
  account.threshold = record.settings.threshold;
  for (const std::string& name : all_rows(record)) {
    AccountStage stage{
        name, block_means(before.series.row(name)), block_means(after.series.row(name)), {}};
    add_pairs(stage.same_side, before.series.row(name));
    add_pairs(stage.same_side, after.series.row(name));
    account.stages.push_back(std::move(stage));
  }
  bool marked = std::any_of(account.stages.begin(), account.stages.end(), [&](const auto& stage) {
    return stage.name == record.settings.kernels;
  });
  account.kernels = marked ? record.settings.kernels : "";
  return account;
}

Json meta_json(const RunRecord& record) {
  Json sides = Json::array();
  for (const RunSide& side : record.sides) sides.push_back(side_json(side));
  const RunSettings& settings = record.settings;
  return {{"name", record.name},
          {"created", record.created},
          {"sides", std::move(sides)},
          {"settings",
           {{"threshold", settings.threshold},
            {"kernels", settings.kernels},
            {"target_ms", settings.target_ms},
            {"items", settings.items},
            {"rate", settings.rate},
            {"per", settings.per}}},
          {"null_kernels",
           {{"saved_ms", estimate_json(record.null_kernels.saved_ms)},
            {"why_not", record.null_kernels.why_not}}},
          {"environment", record.environment},
          {"warnings", record.warnings}};
}

std::optional<Estimate> NullKernels::ceiling_of(double whole_ms) const {
  if (!saved_ms || saved_ms->high >= whole_ms) return std::nullopt;
  auto ceiling = [&](double saved) { return whole_ms / (whole_ms - saved); };
  return Estimate{ceiling(saved_ms->value), ceiling(saved_ms->low), ceiling(saved_ms->high), 0};
}

RunRecord record_from_meta(const Json& meta) {
  try {
    RunRecord record;
    record.name = meta.at("name");
    record.created = meta.at("created");
    for (const Json& side : meta.at("sides")) record.sides.push_back(side_from(side));
    record.settings = settings_from(meta.at("settings"));
    record.null_kernels = null_kernels_from(meta.value("null_kernels", Json::object()));
    record.environment = meta.at("environment");
    record.warnings = meta.at("warnings").get<std::vector<std::string>>();
    if (record.sides.empty() || record.sides.size() > 2)
      fail("a run of {} sides", record.sides.size());
    return record;
  } catch (const Json::exception& error) {
    fail("the entry is not a run of this ledger: {}", error.what());
  }
}

std::vector<Column> columns_of(const RunRecord& record) {
  std::vector<Column> columns;
  for (std::size_t s = 0; s < record.sides.size(); ++s) {
    const Series& series = record.sides[s].series;
    auto add = [&](std::string name, const std::vector<double>& values) {
      if (!values.empty()) columns.push_back({s, std::move(name), values});
    };
    add("warm_up", series.warm_up);
    add("wall", series.wall);
    add("latency", series.latency);
    for (std::size_t r = 0; r < series.rows.size(); ++r)
      add(row_prefix + series.row_names[r], series.rows[r]);
    for (const auto& [stage, times] : series.busy) add(busy_prefix + stage, times);
    for (const auto& [name, values] : series.resources) add(resource_prefix + name, values);
  }
  return columns;
}

void put_column(RunRecord& record, Column column) {
  if (column.side >= record.sides.size()) fail("the entry has a column of a side that it lacks");
  Series& series = record.sides[column.side].series;
  auto rest = [&](const char* prefix) { return column.name.substr(std::string(prefix).size()); };
  if (column.name == "warm_up") {
    series.warm_up = std::move(column.values);
  } else if (column.name == "wall") {
    series.wall = std::move(column.values);
  } else if (column.name == "latency") {
    series.latency = std::move(column.values);
  } else if (column.name.starts_with(row_prefix)) {
    series.row_names.push_back(rest(row_prefix));
    series.rows.push_back(std::move(column.values));
  } else if (column.name.starts_with(busy_prefix)) {
    series.busy[rest(busy_prefix)] = std::move(column.values);
  } else if (column.name.starts_with(resource_prefix)) {
    series.resources[rest(resource_prefix)] = std::move(column.values);
  }  // columns of a later version are left out
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) {
      text += word;
      continue;
    }
    text += '\'';
    for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace fuseline
