// What was recorded of memory besides the traces, and the summary of a run together with it.
#pragma once

#include <span>
#include <string_view>

#include "base/notes.h"
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "report/info/info.h"

namespace stepscope::report {

struct RecordedMemory {
  std::span<const memory::Snapshot> snapshots;
  std::span<const memory::Timeline> timelines;
  std::span<const memory::Stats> stats;
};

// Some other file of the run, such as a machine's samples, for what was odd in it.
struct NotedFile {
  std::string_view path;
  const base::ImportLog* log = nullptr;
};

// Of the run, with what was odd in the memory files and others too, and with what ranks wrote down.
RunInfo summarize(const trace::Run& run, const RecordedMemory& memory,
                  std::span<const trace::RankRecord> rank_records = {},
                  std::span<const NotedFile> others = {});

}  // namespace stepscope::report
