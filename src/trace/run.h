// All ranks of a job, each with one or more recorded windows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "trace/trace.h"

namespace stepscope::trace {

// The identity of an event for ever: evidence, URLs and exports name events by it.
struct EventRef {
  base::Rank rank;
  std::uint32_t window = 0;
  std::uint32_t ordinal = 0;  // in traceEvents
  auto operator<=>(const EventRef&) const = default;
};

struct Source {
  std::string path;      // as found
  std::string encoding;  // "plain", "gzip" or "zstd"
  std::uint64_t file_bytes = 0;
  std::uint64_t text_bytes = 0;
};

struct Window {
  Source source;
  Trace trace;
};

struct RankTraces {
  base::Rank rank;
  std::vector<Window> windows;  // by start on the wall clock
};

// A file of a folder that could not be read. It does not hide the others, but its events are lost.
struct FileFailure {
  std::string path;
  base::Error error;
};

// A file of a folder that is no trace.
struct SkippedFile {
  std::string path;
  std::string why;
};

struct Run {
  std::vector<RankTraces> ranks;      // by rank
  base::ImportLog log;                // of the run as a whole; each trace has its own
  std::vector<FileFailure> failures;  // in the order of the names, as below
  std::vector<SkippedFile> skipped;
};

// Whether a profiler traced anything, or there is only what processes recorded of themselves.
bool has_trace(const Run& run);

}  // namespace stepscope::trace
