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
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "series/node.h"
#include "trace/rank_record.h"
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
  bool reference_only = false;    // as in ingest::ReadOptions: for checking the fast reader
  std::uint64_t block_bytes = 0;  // 0: the importer's own choice
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)>
      progress;  // from any thread, not more than ~20 times a second
};

// All that was recorded of a job. Any part may be empty, but not all of them.
struct OpenedRun {
  trace::Run run;                           // its log is that of the recording as a whole
  std::vector<memory::Snapshot> snapshots;  // by rank, then in the order of the names; so below
  std::vector<memory::Timeline> timelines;
  std::vector<memory::Stats> stats;
  std::vector<trace::RankRecord> rank_records;  // only beside one of the others
  std::vector<series::Node> nodes;              // sampled machines; by host, then time
};

// What was met while reading, of all files. Lost data among it makes a command exit with 4.
base::ImportLog notes_of(const OpenedRun& recording);

// Whether the options can be used; open() asks for itself.
base::Status check(const OpenOptions& options);

// Paths are traces and memory snapshots, folders of them (searched in depth), or "-"; which is
// which is known by content. Files load in parallel.
base::Result<OpenedRun> open(const std::vector<std::string>& paths, const OpenOptions& options);

// For callers that may see one folder only: a server that offers what lies below it.

// As open(), but reads nothing outside of `folder`, which has no links in its path: links that lead
// out are left out and noted. The paths must lie in it. An empty folder is no limit.
base::Result<OpenedRun> open_within(const std::string& folder,
                                    const std::vector<std::string>& paths,
                                    const OpenOptions& options);

}  // namespace stepscope::session
