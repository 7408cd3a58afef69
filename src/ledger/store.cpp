// The tables of the ledger and what is asked of them.
#include "ledger/store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "columns are kept in little endian");

// One step a version of the tables; the version of a file is PRAGMA user_version.
constexpr std::array steps = {
    // 1
    "CREATE TABLE runs ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, created TEXT NOT NULL,"
    "  command TEXT NOT NULL, verdict TEXT NOT NULL, median_ms REAL, runs INTEGER NOT NULL,"
    "  meta TEXT NOT NULL);"
    "CREATE TABLE columns ("
    "  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, side INTEGER NOT NULL,"
    "  place INTEGER NOT NULL, name TEXT NOT NULL, vals BLOB NOT NULL,"
    "  PRIMARY KEY (run, side, place)) WITHOUT ROWID;",
    // 2
    "CREATE INDEX runs_by_name ON runs(name, id);"
    "CREATE INDEX runs_by_command ON runs(command, id);",
};
constexpr int newest = static_cast<int>(steps.size());

fs::path data_folder() {
  if (auto folder = env(EnvVar::xdg_data_home); folder && fs::path(*folder).is_absolute())
    return *folder;
  auto home = env(EnvVar::home);
  if (!home) fail("the ledger has no place: set FUSELINE_LEDGER, XDG_DATA_HOME or HOME");
  return fs::path(*home) / ".local" / "share";
}

// What makes a series: the commands of all sides.
std::string series_key(const RunRecord& record) {
  std::string key;
  for (const RunSide& side : record.sides)
    key += (key.empty() ? "" : " | ") + command_text(side.command);
  return key;
}

bool is_number(const std::string& word, std::int64_t& number) {
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && number >= 0;
}

}  // namespace

std::optional<fs::path> ledger_path() {
  auto path = env(EnvVar::ledger);
  if (path == "off") return std::nullopt;
  return path ? fs::path(*path) : data_folder() / "fuseline" / "ledger.db";
}

// A prepared statement; every status that is not expected becomes an Error.
class Ledger::Statement {
 public:
  Statement(const Ledger& ledger, const char* sql) : ledger_(ledger) {
    check(sqlite3_prepare_v2(ledger.database_, sql, -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value) {
    check(sqlite3_bind_int64(statement_, ++bound_, value));
    return *this;
  }
  Statement& bind(double value) {
    check(sqlite3_bind_double(statement_, ++bound_, value));
    return *this;
  }
  Statement& bind(const std::string& value) {
    check(sqlite3_bind_text(statement_, ++bound_, value.data(), static_cast<int>(value.size()),
                            SQLITE_TRANSIENT));
    return *this;
  }
  Statement& bind(const std::vector<double>& values) {
    check(sqlite3_bind_blob64(statement_, ++bound_, values.data(), values.size() * sizeof(double),
                              SQLITE_TRANSIENT));
    return *this;
  }
  bool next() {
    int status = sqlite3_step(statement_);
    if (status == SQLITE_ROW) return true;
    if (status != SQLITE_DONE) ledger_.fail_sql(status);
    return false;
  }
  void run() {
    while (next()) {
    }
  }
  void again() {
    sqlite3_reset(statement_);
    bound_ = 0;
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes ? std::string(bytes, size) : std::string();
  }
  std::vector<double> reals(int column) const {
    std::string bytes = text(column);
    std::vector<double> values(bytes.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    return values;
  }

 private:
  void check(int status) const {
    if (status != SQLITE_OK) ledger_.fail_sql(status);
  }
  const Ledger& ledger_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

Ledger::Ledger(fs::path path, Mode mode, double wait_seconds) : path_(std::move(path)) {
  try {
    open_file(mode, wait_seconds);
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

Ledger::~Ledger() { sqlite3_close(database_); }

void Ledger::open_file(Mode mode, double wait_seconds) {
  std::error_code error;
  if (mode == Mode::read && !fs::exists(path_, error)) return;
  if (mode == Mode::write && path_.has_parent_path()) {
    fs::create_directories(path_.parent_path(), error);
    if (error) fail("{}: its folder cannot be made: {}", path_.string(), error.message());
  }
  int flags = SQLITE_OPEN_READWRITE | (mode == Mode::write ? SQLITE_OPEN_CREATE : 0);
  int status = sqlite3_open_v2(path_.c_str(), &database_, flags, nullptr);
  if (status != SQLITE_OK) fail_sql(status);
  sqlite3_extended_result_codes(database_, 1);
  sqlite3_busy_timeout(database_, static_cast<int>(wait_seconds * 1000));
  // Refused before anything is written.
  int found = version();
  if (found > newest)
    fail(
        "{}: written by a newer Fuseline (version {} of the ledger, this one knows {}); use that "
        "one, or set FUSELINE_LEDGER to another file",
        path_.string(), found, newest);
  execute("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;");
  if (found < newest) migrate();
}

int Ledger::version() const {
  Statement statement(*this, "PRAGMA user_version");
  return statement.next() ? static_cast<int>(statement.integer(0)) : 0;
}

// Two processes may find an old file at once: who gets the lock second finds nothing to do.
void Ledger::migrate() {
  execute("BEGIN IMMEDIATE");
  try {
    for (int step = version(); step < newest; ++step) {
      execute(steps[static_cast<std::size_t>(step)]);
      execute(("PRAGMA user_version = " + std::to_string(step + 1)).c_str());
    }
    execute("COMMIT");
  } catch (...) {
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void Ledger::execute(const char* sql) const {
  int status = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail_sql(status);
}

void Ledger::fail_sql(int status) const {
  std::string path = path_.string();
  switch (status & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail("{}: the ledger is locked by another program; try again when it is done", path);
    case SQLITE_FULL:
      fail("{}: the disk is full; nothing was changed in the ledger", path);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      fail("{}: not a ledger, or a damaged one; move it away or set FUSELINE_LEDGER", path);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      fail("{}: the ledger cannot be opened for writing; FUSELINE_LEDGER names another file", path);
    default:
      fail("{}: the ledger: {}", path,
           database_ ? sqlite3_errmsg(database_) : sqlite3_errstr(status));
  }
}

std::int64_t Ledger::add(const RunRecord& record, const std::string& verdict) {
  require(database_, "writing to a ledger that was opened for reading");
  const Series& series = record.last().series;
  execute("BEGIN IMMEDIATE");
  try {
    Statement head(*this,
                   "INSERT INTO runs(name, created, command, verdict, median_ms, runs, meta) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?)");
    head.bind(record.name).bind(record.created).bind(series_key(record)).bind(verdict);
    head.bind(median(series.wall)).bind(static_cast<std::int64_t>(series.wall.size()));
    head.bind(json_text(meta_json(record), -1)).run();
    std::int64_t id = sqlite3_last_insert_rowid(database_);
    Statement row(*this, "INSERT INTO columns(run, side, place, name, vals) VALUES (?,?,?,?,?)");
    std::int64_t place = 0;
    for (const Column& column : columns_of(record)) {
      row.bind(id).bind(static_cast<std::int64_t>(column.side)).bind(place++);
      row.bind(column.name).bind(column.values).run();
      row.again();
    }
    execute("COMMIT");
    return id;
  } catch (...) {
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

RunRecord Ledger::load(std::int64_t id) const {
  if (!database_) fail("{}: there is no run {}; the ledger is empty", path_.string(), id);
  Statement head(*this, "SELECT meta FROM runs WHERE id = ?");
  head.bind(id);
  if (!head.next()) fail("{}: there is no run {}; see `fuseline ledger list`", path_.string(), id);
  Json meta = Json::parse(head.text(0), nullptr, false);
  if (meta.is_discarded()) fail("{}: run {} is damaged", path_.string(), id);
  RunRecord record = record_from_meta(meta);
  record.id = id;
  Statement rows(*this, "SELECT side, name, vals FROM columns WHERE run = ? ORDER BY side, place");
  rows.bind(id);
  while (rows.next()) {
    std::vector<double> values = rows.reals(2);
    for (double value : values)
      if (std::isnan(value))
        fail("{}: run {} holds a measurement that is NaN in \"{}\"", path_.string(), id,
             rows.text(1));
    put_column(record,
               {static_cast<std::size_t>(rows.integer(0)), rows.text(1), std::move(values)});
  }
  return record;
}

std::vector<RunHead> Ledger::list(std::size_t most) const {
  std::vector<RunHead> heads;
  if (!database_) return heads;
  Statement rows(*this,
                 "SELECT id, name, created, command, verdict, median_ms, runs FROM runs "
                 "ORDER BY id DESC LIMIT ?");
  rows.bind(most ? static_cast<std::int64_t>(most) : std::int64_t{-1});
  while (rows.next())
    heads.push_back({rows.integer(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4),
                     rows.real(5), static_cast<std::size_t>(rows.integer(6))});
  return heads;
}

std::vector<std::int64_t> Ledger::same_series(std::int64_t id) const {
  std::vector<std::int64_t> ids;
  if (!database_) return ids;
  Statement rows(*this,
                 "SELECT id FROM runs WHERE command = (SELECT command FROM runs WHERE id = ?) "
                 "ORDER BY id");
  rows.bind(id);
  while (rows.next()) ids.push_back(rows.integer(0));
  return ids;
}

std::int64_t Ledger::find(const std::string& word) const {
  std::vector<RunHead> heads = list();
  if (heads.empty()) fail("{}: the ledger is empty; `fuseline bench` adds runs", path_.string());
  std::int64_t number = 0;
  bool relative =
      word == "last" || (word.starts_with("last~") && is_number(word.substr(5), number));
  if (relative) {
    if (number >= static_cast<std::int64_t>(heads.size()))
      fail("{}: the ledger has only {} run{}", word, heads.size(), heads.size() == 1 ? "" : "s");
    return heads[static_cast<std::size_t>(number)].id;
  }
  bool by_id = is_number(word, number);
  for (const RunHead& head : heads)
    if (by_id ? head.id == number : !word.empty() && head.name == word) return head.id;
  fail("\"{}\" is no run of the ledger; `fuseline ledger list` shows names and numbers", word);
}

std::size_t Ledger::prune(std::size_t keep) {
  if (!database_) return 0;
  Statement rows(*this,
                 "DELETE FROM runs WHERE name = '' AND id IN (SELECT id FROM (SELECT id, "
                 "row_number() OVER (PARTITION BY command ORDER BY id DESC) AS place FROM runs) "
                 "WHERE place > ?)");
  rows.bind(static_cast<std::int64_t>(keep)).run();
  auto removed = static_cast<std::size_t>(sqlite3_changes(database_));
  if (removed) execute("VACUUM");
  return removed;
}

}  // namespace fuseline
