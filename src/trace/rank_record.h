// What a rank wrote down about its own recording (rank.json, docs/formats/run-folder.md): its
// windows and what they cost, what the user was warned of, and how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace stepscope::trace {

// Steps that torch's profiler, or the allocator's history, was open for.
struct RecordedWindow {
  std::string kind;  // "trace", "snapshot"
  std::int64_t first_step = 0;
  std::uint64_t steps = 0;    // complete ones
  std::string closed;         // why: "complete", "max_seconds", "exception", …
  std::optional<bool> whole;  // of a history: whether it reaches back to the window's beginning
  std::vector<std::string> files;
  // Of the training's time, by what for: "start", "stop", "export".
  std::vector<std::pair<std::string, base::Nanos>> cost;

  base::Nanos cost_ns() const {
    base::Nanos sum = 0;
    for (const auto& [what, ns] : cost) sum += ns;
    return sum;
  }
};

struct RecordedWarning {
  std::string text;
  std::int64_t unix_ns = 0;
};

struct RecordedError {
  std::string type, text;
  std::int64_t step = 0;
};

struct RankRecord {
  std::string path;
  std::int32_t rank = 0;
  std::int64_t attempt = 0;
  std::string host;
  std::int64_t pid = 0;
  std::int64_t start_unix_ns = 0;
  std::vector<RecordedWindow> windows;
  std::vector<RecordedWarning> warnings;
  std::vector<std::string> lines;  // files beside it: time and memory by line of a function
  std::optional<RecordedError> error;
  // "stop", "exit", "SIGTERM", "exception"; empty: the process was killed, or still runs.
  std::string finished;
  std::optional<std::uint64_t> steps, epochs;  // nothing: it did not finish
};

}  // namespace stepscope::trace
