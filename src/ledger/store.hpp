// The ledger on disk: one SQLite file that several processes read and write at once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/run_record.hpp"

struct sqlite3;

namespace fuseline {

// What a list shows of a run.
struct RunHead {
  std::int64_t id = 0;
  std::string name;
  std::string created;
  std::string command;   // of the last side
  std::string verdict;   // empty where there is none
  double median_ms = 0;  // of the last side
  std::size_t runs = 0;  // of the last side
};

// Where the user's ledger is; none where FUSELINE_LEDGER=off.
std::optional<std::filesystem::path> ledger_path();

// Every write is one transaction, so that an ended process leaves a whole run or none. Errors name
// the file: one of a newer version, one that is locked for longer than the wait, a full disk, a
// file that is no ledger.
class Ledger {
 public:
  enum class Mode { read, write };
  // Reading does not make a file that is not there: then the ledger is empty.
  explicit Ledger(std::filesystem::path path, Mode mode, double wait_seconds = 10);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Keeps the run; its id. `verdict` and the median are kept for lists.
  std::int64_t add(const RunRecord& record, const std::string& verdict);
  RunRecord load(std::int64_t id) const;
  // Newest first; 0: all.
  std::vector<RunHead> list(std::size_t most = 0) const;
  // The runs of the same command and options as `id`, oldest first.
  std::vector<std::int64_t> same_series(std::int64_t id) const;
  // An id, a name (its newest run), "last" or "last~N". Error for any other, with what is near.
  std::int64_t find(const std::string& word) const;
  // Removes all but the newest `keep` runs of every series, never a named one; how many went.
  std::size_t prune(std::size_t keep);

 private:
  class Statement;
  void open_file(Mode mode, double wait_seconds);
  void migrate();
  int version() const;
  void execute(const char* sql) const;
  [[noreturn]] void fail_sql(int status) const;

  std::filesystem::path path_;
  sqlite3* database_ = nullptr;  // none where there is nothing to read
};

}  // namespace fuseline
