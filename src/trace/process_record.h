// What a process recorded of itself, beside the ranges and steps that are events like any others:
// its log, who it was, what was lost and what recording cost (docs/formats/scope.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace stepscope::trace {

struct ModelSummary;  // trace/model_summary.h

struct LogEntry {
  base::Nanos time = 0;    // local, as the columns of its trace
  std::int64_t step = -1;  // the one that was running; -1: before the first
  std::int32_t level = 0;  // as Python counts: 30 is a warning, 40 an error
  std::string logger, thread, text;
  std::int64_t thread_id = -1;  // as the system numbers it; -1: not known
};

// "warning" for 30; the number for what is in between.
std::string level_name(std::int32_t level);

// As the recorder counted it when it finished.
struct RecorderCost {
  std::uint64_t records = 0, dropped = 0, log_lines = 0, bytes = 0, lost_bytes = 0;
  base::Nanos writer_ns = 0;  // processor time of the thread that wrote
};

struct ProcessRecord {
  bool is_worker = false;  // of another process of its rank: a DataLoader worker, a forked child
  std::optional<std::int64_t> pid, parent_pid;
  std::vector<LogEntry> log;                          // in the order of the file
  std::uint64_t ranges = 0, instants = 0, steps = 0;  // as written; so below
  std::uint64_t counter_values = 0;
  std::vector<std::string> step_threads;      // that marked steps, as their tracks name them
  std::uint64_t open_ranges = 0;              // when the recording ended
  std::uint64_t dropped = 0;                  // records that found no room
  std::uint64_t lost_steps = 0;               // whose marks are among them
  base::Nanos length = 0;                     // from the first to the last look at the clocks
  base::Nanos clock_set = 0;                  // how far the wall clock was set meanwhile
  std::optional<RecorderCost> cost;           // nothing: the process did not finish
  std::shared_ptr<const ModelSummary> model;  // that it trained; null: it did not say

  std::size_t memory() const;
};

}  // namespace stepscope::trace
