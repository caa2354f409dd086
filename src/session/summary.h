// What is said of a recording before any question is asked.
#pragma once

#include "report/info/recorded_memory.h"
#include "session/session.h"

namespace stepscope::session {

report::RecordedMemory memory_of(const Recording& recording);

// With what was odd in any of its files.
report::RunInfo summary_of(const Recording& recording);

// Without the files of memory, where they say themselves what was odd in them.
report::RunInfo summary_without_memory(const Recording& recording);

}  // namespace stepscope::session
