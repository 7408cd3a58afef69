// What the commands of the ledger share.
#include "cli/ledger_text.hpp"

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/nearest.hpp"
#include "cli/exit_code.hpp"
#include "cli/parse.hpp"

namespace fuseline::cli {

Ledger open_ledger(Ledger::Mode mode) {
  auto path = ledger_path();
  if (!path) fail("the ledger is off (FUSELINE_LEDGER=off)");
  return Ledger(*path, mode);
}

std::int64_t find_run(const Ledger& ledger, const std::string& word) {
  try {
    return ledger.find(word);
  } catch (const Error& error) {
    std::vector<std::string> names = {"last"};
    for (const RunHead& head : ledger.list())
      if (!head.name.empty()) names.push_back(head.name);
    auto meant = nearest(word, names);
    if (!meant || names.size() == 1) throw;
    fail("{}; did you mean {}?", error.what(), *meant);
  }
}

int verdict_exit_code(std::optional<Verdict> verdict) {
  if (verdict == Verdict::slower) return exit_some_failed;
  return verdict == Verdict::inconclusive ? exit_inconclusive : exit_fine;
}

std::string kept_text(const RunRecord& record) {
  if (!record.id) return "";
  return fmt::format("\nledger      run {}{}", record.id,
                     record.name.empty() ? "" : fmt::format(" ({})", record.name));
}

}  // namespace fuseline::cli
