// What every memory analysis says of a snapshot before its own findings: what its history covers.
#pragma once

#include <string>

#include "analysis/analysis.h"
#include "analysis/memory/snapshot_work.h"

namespace stepscope::analysis {

// Neither events nor blocks: nothing to say of this device.
bool is_empty(const HistoryWork& work);

// "snap.pickle, device 0: …".
std::string said_of(const SnapshotView& view, const HistoryWork& work, std::string_view what);

// A sentence if there was nothing to put into the first table and nothing else was said.
void say_if_nothing(Answer& answer);

// A sentence where the steps of the recording are counted by place, as its own numbers repeat.
void say_if_counted(Answer& answer, const SnapshotView& view, const HistoryWork& work);

// What is older than the history, what was lost, and where stacks are missing.
void add_remarks(Answer& answer, const SnapshotView& view, const HistoryWork& work);

}  // namespace stepscope::analysis
