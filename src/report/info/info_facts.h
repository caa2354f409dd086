// The single facts of a run as short lines of text: what stands above and below the tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/info/info.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

std::string title_of(const RunInfo& info);
std::string common_folder(const RunInfo& info);  // with its slash, or empty
std::string common_ending(const RunInfo& info);  // ".json.gz", or empty

// "3 on each rank", "7 in all", "5 in all; 39 found otherwise are left out", "12"; empty: none
// marked steps.
std::string step_count_text(const RunInfo& info);
// From the first moment of any file to the last.
base::Nanos recorded_length(const RunInfo& info);

std::vector<NamedText> run_facts(const RunInfo& info, std::optional<double> load_seconds);
std::vector<NamedText> content_facts(const RunInfo& info);  // collectives, memory, counters

// Labels on the left, facts on the right, wrapped under themselves.
std::string facts_text(const std::vector<NamedText>& facts, const Look& look);

}  // namespace stepscope::report
