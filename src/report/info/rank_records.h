// What ranks wrote down about their own recording: its windows and what they cost, how it ended,
// and what the user was warned of; as text and as JSON.
#pragma once

#include <string>

#include "report/info/info.h"
#include "report/writing/json_writer.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// "normally", "rank 1 by an exception: …"; only where ranks wrote something down.
std::string endings_text(const RunInfo& info);
// By anything but its own end: an error, a signal, a status that is not 0, or what is not known.
bool ended_oddly(const RunInfo& info);

// Windows that do not hold what they were opened for; empty where all do.
std::string cut_windows_text(const RunInfo& info);

// The files of `stepscope.lines`, below what all ranks share; empty where there are none.
std::string lines_text(const RunInfo& info);

// Of the training's time, of all ranks together; empty where there were no windows.
std::string window_cost_text(const RunInfo& info);

// Whether windows_table has any rows.
bool lists_windows(const RunInfo& info);

// One row per window and one line per warning; nothing where there were none.
std::string windows_table(const RunInfo& info, const Look& look, bool all);
std::string warnings_list(const RunInfo& info, const Look& look, bool all);

// The list under "rank_records" in "stepscope.info/1".
void write_rank_records(JsonWriter& json, const RunInfo& info);

}  // namespace stepscope::report
