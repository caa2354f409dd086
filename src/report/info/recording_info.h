// What processes recorded of themselves: how much, what was lost, what it cost; as text and as
// JSON.
#pragma once

#include <string>

#include "report/info/info.h"
#include "report/writing/json_writer.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

RecordingInfo recording_info(std::int32_t rank, const trace::Window& window);

// Nothing where there is no recording. `all`: every window and warning, however many.
std::string recordings_text(const RunInfo& info, const Look& look, bool all);

// The list under "recordings" in "stepscope.info/1".
void write_recordings(JsonWriter& json, const RunInfo& info);

}  // namespace stepscope::report
