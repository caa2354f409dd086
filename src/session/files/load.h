// Reads many files at once. Threads and memory are shared out by size: many files are read side by
// side, few of them are split inside. What comes back does not depend on the number of threads.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "series/node.h"
#include "session/files/discover.h"
#include "session/session.h"
#include "trace/run.h"

namespace stepscope::session {

struct NotRead {};  // reading stopped before its turn
struct NoRecording {
  std::string why;
};

// What became of a file.
using LoadedFile = std::variant<NotRead, NoRecording, base::Error, trace::Window, memory::Snapshot,
                                memory::Timeline, memory::Stats, series::Node>;

// Fails only where an option is no good: what is wrong with a file is in its place.
base::Result<std::vector<LoadedFile>> load(const std::vector<FoundFile>& files,
                                           const OpenOptions& options);

}  // namespace stepscope::session
