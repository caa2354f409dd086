// What every importer is asked for and told. An importer streams: it is handed a source of text and
// returns a Trace or an Error; what was odd on the way is in the trace's log.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "base/result.h"
#include "bytes/source.h"
#include "trace/trace.h"

namespace stepscope::ingest {

struct ReadOptions {
  unsigned threads = 1;
  // Staged rows and columns together; more than this is an Error, not a dead machine.
  std::uint64_t max_memory_bytes = std::numeric_limits<std::uint64_t>::max();
  std::string step_pattern;                 // a regular expression; names of steps when not empty
  const std::atomic<bool>* stop = nullptr;  // set by a signal: reading ends with kCancelled
  std::function<void(std::uint64_t file_position)> progress;  // called from any reading thread
  bool careful_only = false;  // only the slow, obvious reader: what the fast one is held to
  std::size_t block_bytes = std::size_t{1} << 20;  // stretch of text given to a thread at once
};

// A format is a row of functions, not a class hierarchy.
struct Format {
  std::string_view name;                       // "kineto", as in docs/formats/
  int (*sniff)(std::string_view first_bytes);  // 0 = no, 100 = certain
  base::Result<trace::Trace> (*read)(std::unique_ptr<bytes::ByteSource> source,
                                     const ReadOptions& options);
};

// Reads a file of any known format, decided by its first bytes.
base::Result<trace::Trace> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options);

}  // namespace stepscope::ingest
