// What every importer is asked for and given. An importer streams: it is handed a source of bytes
// and returns a document or an Error; what was odd on the way is in the document's log.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "bytes/source.h"
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "series/node.h"
#include "trace/step_pattern.h"
#include "trace/trace.h"

namespace stepscope::ingest {

struct ReadOptions {
  unsigned threads = 1;
  // Staged rows and columns together; more than this is an Error, not a dead machine.
  std::uint64_t max_memory_bytes = std::numeric_limits<std::uint64_t>::max();
  trace::StepPattern step_pattern;
  const std::atomic<bool>* stop = nullptr;  // set by a signal: reading ends with kCancelled
  std::function<void(std::uint64_t file_position)> progress;  // called from any reading thread
  std::string model;            // of a recording: the text of the model.json beside it, or empty
  bool reference_only = false;  // only the slow, obvious reader: what the fast one is held to
  std::size_t block_bytes = std::size_t{1} << 18;  // stretch of text given to a thread at once
};

// What a file may hold.
using Document =
    std::variant<trace::Trace, memory::Snapshot, memory::Timeline, memory::Stats, series::Node>;

// A format is a row of functions, not a class hierarchy.
struct Format {
  std::string_view name;                       // "kineto"
  int (*sniff)(std::string_view first_bytes);  // 0 = no, 100 = certain
  base::Result<Document> (*read)(std::unique_ptr<bytes::ByteSource> source,
                                 const ReadOptions& options);
};

// How much of a file is read to recognize its format.
inline constexpr std::size_t kSniffedBytes = 4096;

// The format of a file that begins so. Text that looks like nothing we know is a trace's: that
// reader takes what it can and says best what is wrong with the rest.
const Format& format_of(std::string_view first_bytes);

// Reads a file of any known format, decided by its first bytes.
base::Result<Document> read(std::unique_ptr<bytes::ByteSource> source, const ReadOptions& options);

}  // namespace stepscope::ingest
