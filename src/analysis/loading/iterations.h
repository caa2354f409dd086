// The iterations of each phase of a rank: its training steps, and the batches of other loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/loading/loader_records.h"
#include "analysis/recording/recorded_steps.h"
#include "base/units.h"

namespace stepscope::analysis {

struct Iteration {
  base::Nanos start = 0;  // since the first recording of the run began
  base::Nanos length = 0;
  std::optional<base::Nanos> wait_ns = {};   // for data; nothing: no loader was watched
  std::optional<std::int64_t> samples = {};  // nothing: not known
  std::optional<std::int64_t> batches = {};  // nothing: no loader was watched
  bool traced = false;                       // a profiler ran meanwhile, which costs time
};

// By phase; iterations by start. Training steps are those that step() marks; without them, and in
// every other phase, an iteration lasts from one question for a batch to the next.
std::map<std::string, std::vector<Iteration>> iterations_of(const RankLoading* loading,
                                                            const std::vector<RecordedStep>& steps);

// How many of the first iterations are no measure of the rest: compiling, filling caches and
// queues. Definition: docs/metrics/throughput.md.

// The first so many of the lengths. Where there are too few to tell, at most the very first, if it
// is far from all others.
std::size_t warm_up(std::span<const base::Nanos> lengths);
// The same where a profiler made some of them longer: these say nothing of a warm-up, unless there
// are no others.
std::size_t warm_up(std::span<const base::Nanos> lengths, const std::vector<bool>& traced);

}  // namespace stepscope::analysis
