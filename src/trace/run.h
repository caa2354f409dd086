// All ranks of a job, each with one or more recorded windows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  std::string path;           // as found
  std::string encoding;       // "plain", "gzip" or "zstd"
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

struct Run {
  std::vector<RankTraces> ranks;  // by rank
  ImportLog log;                  // of the run as a whole; each trace has its own
};

}  // namespace stepscope::trace
