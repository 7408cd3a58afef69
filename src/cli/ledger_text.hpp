// What the commands of the ledger share: opening it, verdicts as exit codes, closing lines.
#pragma once

#include <optional>
#include <string>

#include "ledger/store.hpp"

namespace fuseline::cli {

// Error where FUSELINE_LEDGER=off.
Ledger open_ledger(Ledger::Mode mode);
// The run that a word names; the error tells the nearest name.
std::int64_t find_run(const Ledger& ledger, const std::string& word);

// 0 for FASTER, SAME and no verdict, 1 for SLOWER, 4 for INCONCLUSIVE.
int verdict_exit_code(std::optional<Verdict> verdict);

// "\nledger      run 12 (name)" or nothing where it was not kept.
std::string kept_text(const RunRecord& record);

}  // namespace fuseline::cli
