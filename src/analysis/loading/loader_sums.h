// What the waits and batches of one loader, or of one of its workers, add up to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/arithmetic/durations.h"
#include "analysis/loading/loader_records.h"
#include "analysis/recording/recorded_steps.h"

namespace stepscope::analysis {

// A sum of what some batches know and others do not.
struct KnownSum {
  std::int64_t sum = 0;
  bool known = false;

  void add(const std::optional<std::int64_t>& value) {
    if (!value) return;
    sum += *value;
    known = true;
  }
  std::optional<std::int64_t> value() const { return known ? std::optional(sum) : std::nullopt; }
};

// Batches that were made.
struct MadeSums {
  Durations lengths = {};
  base::Nanos fetch_ns = 0;
  KnownSum transform_ns = {}, collate_ns = {}, cpu_ns = {}, starved_ns = {};
  KnownSum read_bytes = {}, storage_bytes = {}, files = {}, samples = {}, batch_bytes = {};

  void add(const MadeBatch& one);
  // Of the time of all; nothing where it is not known.
  std::optional<double> share_of(const std::optional<std::int64_t>& part) const;
};

// One worker of one loader, under whatever process ids it ran.
struct WorkerSums {
  MadeSums made = {};
  struct Alive {
    base::Nanos first = 0, last = 0;  // from its first batch to the end of its last
  };
  // Of each process, for each pass: between two passes no batch is asked for.
  std::map<std::int64_t, std::map<std::int64_t, Alive>> processes = {};
  std::int64_t late = 0;  // waits that were for a batch of its making
  base::Nanos late_ns = 0;
  base::Nanos later_late_ns = 0;  // of those, without the first batch of its process in the pass

  base::Nanos alive_ns() const;
};

struct LoaderKey {
  std::string loader, phase;
  auto operator<=>(const LoaderKey&) const = default;
};

// Batches, from the question for each to the next question: the wait, and what the loop did then.
struct LoopTime {
  base::Nanos wait_ns = 0, first_wait_ns = 0;
  base::Nanos whole = 0;

  double wait_share() const;        // 0 where it took no time
  double later_wait_share() const;  // so too, without the waits for first batches
};

struct LoaderSums {
  Durations waits = {};     // of batches that came
  LoopTime time = {};       // of the batches that no profiler slowed; of all, if it slowed all
  base::Nanos end_ns = 0;   // asked in vain: the pass is over, and workers are let go
  std::int64_t waited = 0;  // batches that were not there at once
  // Of the first batch of each pass: the loop waits for workers that start, and for an empty queue.
  std::int64_t passes = 0;
  bool beside = false;  // a thread reads ahead of the loop: how long that waits is not known
  base::Nanos first_wait_ns = 0;
  KnownSum samples = {};
  std::int64_t ready = 0, ready_known = 0;
  MadeSums made = {};  // the batches that came
  // Of them, without the first of each process, which imports and opens files.
  Durations later_made = {};
  Durations between = {};  // what the loop does with a batch until it asks for the next
  std::map<std::int64_t, WorkerSums> workers = {};
  std::map<LateCause, base::Nanos> causes = {};  // what the waits were for, by their length

  double wait_share() const { return time.wait_share(); }
  double later_wait_share() const { return time.later_wait_share(); }
  std::optional<LateCause> cause() const;  // of most of the waiting; nothing: none known
  // That was waited for longest once it had begun: opening a dataset comes once. Where none was
  // late from then on, at all.
  std::optional<std::int64_t> late_worker() const;
  // Batches a second that can be made: by all workers side by side, or by the loop itself.
  std::optional<double> capacity() const;
  // Of the first batch of a process only where there are no others: it imports and opens files.
  std::optional<double> make_ns() const;
  // That would keep up, each on a core of its own; at least 1. Nothing: not known.
  std::optional<std::int64_t> workers_needed() const;
};

// A wait shorter than `least` is none: asking for a batch that is there takes a moment too. Steps
// are the rank's, by start; none: not recorded.
std::map<LoaderKey, LoaderSums> loader_sums(const RankLoading& rank,
                                            const std::vector<RecordedStep>& steps,
                                            base::Nanos least);

// The steps of a rank and the batches that came during each.

struct LoaderStep {
  RecordedStep step;
  std::int64_t batches = 0;
  base::Nanos wait_ns = 0;             // of the waits that ended during it, the last of a pass too
  bool known = true;                   // false: a thread beside the loop took all its batches
  const BatchWait* longest = nullptr;  // of those that brought a batch
  const MadeBatch* made = nullptr;     // that batch
};

// Steps by start. What is pointed to belongs to `rank`.
std::vector<LoaderStep> loader_steps(const RankLoading& rank,
                                     const std::vector<RecordedStep>& steps);

}  // namespace stepscope::analysis
