// The report of a run: as text of 80 columns, as JSON, as a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/run_record.hpp"

namespace fuseline {

// End to end; none for a record with one side.
std::optional<Verdict> verdict_of(const RunRecord& record);

std::string report_text(const RunRecord& record);
// With "verdict" (null for one side) and everything that the text shows.
Json report_json(const RunRecord& record);

Json summary_json(const Summary& summary);  // p99 is null below 1000 samples

// One self-contained page: accounts, bars with the ceiling, history by stage, trust box. Needs no
// network. `history` holds earlier runs of the same commands, oldest first, the record last.
std::string report_html(const RunRecord& record, const std::vector<RunRecord>& history);

// Lines about processor time, memory, kernels alone, the null run and clocks.
std::vector<std::string> resource_lines(const RunRecord& record);
// Lines about n, noise, warming up, outputs, the machine and the source.
std::vector<std::string> trust_lines(const RunRecord& record);

}  // namespace fuseline
