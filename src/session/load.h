// Reads many files at once. Threads and memory are shared out by size: many files are read side by
// side, few of them are split inside. What comes back does not depend on the number of threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "session/discover.h"
#include "session/session.h"
#include "trace/run.h"

namespace stepscope::session {

// Exactly one of them is set, or none where reading stopped before the file's turn.
struct LoadedFile {
  std::optional<trace::Window> window;
  std::optional<memory::Snapshot> snapshot;
  std::optional<memory::Timeline> timeline;
  std::optional<memory::Stats> stats;
  std::optional<base::Error> error;
  std::string skipped;  // why it is no recording

  std::uint64_t memory() const {
    return (window ? window->trace.memory() : 0) + (snapshot ? snapshot->memory() : 0);
  }
};

std::vector<LoadedFile> load(const std::vector<FoundFile>& files, const OpenOptions& options);

}  // namespace stepscope::session
