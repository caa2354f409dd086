// The one door: command line, server and Python open runs here, so all of them see the same
// numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/run.h"

namespace stepscope::session {

struct Progress {
  std::uint64_t bytes_done = 0, bytes_total = 0;  // of the files as they are on disk
  std::size_t files_done = 0, files_total = 0;
};

struct OpenOptions {
  unsigned threads = 1;
  std::uint64_t max_memory_bytes = std::numeric_limits<std::uint64_t>::max();
  std::string step_pattern;
  bool careful_only = false;      // as in ingest::ReadOptions: for checking the fast reader
  std::uint64_t block_bytes = 0;  // 0: the importer's own choice
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)>
      progress;  // from any thread, not more than ~20 times a second
};

// Paths are trace files, folders of them (searched in depth), or "-". Ranks load in parallel.
base::Result<trace::Run> open(const std::vector<std::string>& paths, const OpenOptions& options);

}  // namespace stepscope::session
