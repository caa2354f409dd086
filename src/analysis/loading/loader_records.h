// What stepscope.profile(…).watch(loader) recorded: each wait of the training loop, and each batch
// as the worker that made it saw it. A wait is matched with its own batch by the worker's process,
// iteration and count, never by the time. Definitions: docs/metrics/loader.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/loading/loader_settings.h"
#include "analysis/view.h"

namespace stepscope::analysis {

inline constexpr std::size_t kNoBatch = static_cast<std::size_t>(-1);

// One batch as it was made. Times count from the beginning of the run's first recording.
struct MadeBatch {
  std::string loader = {};
  base::Nanos start = 0, end = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> worker = {};       // nothing: the training loop itself
  std::int64_t iteration = 0, number = -1;       // in it; -1: making it failed
  std::optional<std::int64_t> samples = {};      // what is not known is not there; so below
  std::optional<base::Nanos> transform_ns = {};  // of its length
  std::optional<base::Nanos> collate_ns = {};    //
  std::optional<base::Nanos> cpu_ns = {};        // processor time
  std::optional<base::Nanos> starved_ns = {};    // waited for a core
  std::optional<base::Bytes> read_bytes = {}, storage_bytes = {};
  std::optional<std::int64_t> files = {};
  std::optional<base::Bytes> batch_bytes = {};  // of its tensors and arrays
  bool counts = true;                           // it began in a step the user asked for

  base::Nanos length() const { return end - start; }
  base::Nanos fetch_ns() const;  // what transform and collate leave
};

// One wait of the loop.
struct BatchWait {
  std::string loader = {}, phase = {};
  base::Nanos start = 0, end = 0;
  base::Nanos before = 0;  // of the first of a pass: the iterator was made, before it was asked
  base::Nanos until = 0;   // the loop asked again, or the pass ended; `end` where neither is known
  Intervals aside = {};    // from `end` to `until`, of a training: declared to be something else
  base::Nanos used = 0;    // when the loop began to use the batch: later than `end` where who asks
                           // keeps one back, as Accelerate does to know the last
  std::int64_t iteration = 0;
  std::optional<std::int64_t> number = {};  // nothing: no batch came, the loader had no more
  std::optional<std::int64_t> ready = {}, samples = {}, worker = {}, pid = {};
  std::size_t made = kNoBatch;  // in RankLoading::made
  bool counts = true;
  bool first = false;   // of its pass
  bool beside = false;  // on a thread that marks no steps: it reads ahead, and hides its waits

  bool gave() const { return number.has_value(); }
  base::Nanos length() const { return before + end - start; }
  base::Nanos whole() const {  // with what the loop did then
    return before + until - start - total(aside);
  }
};

struct RankLoading {
  std::vector<BatchWait> waits;                    // by start
  std::vector<MadeBatch> made;                     // in the order of the recordings, then by start
  std::map<std::string, LoaderSettings> settings;  // by loader; those that were recorded

  const MadeBatch* made_for(const BatchWait& wait) const {
    return wait.made == kNoBatch ? nullptr : &made[wait.made];
  }
};

// By rank; ranks that watched no loader are left out.
std::map<std::int32_t, RankLoading> loading_by_rank(const RunView& view);

// What kept a batch from being there in time.
enum class LateCause : std::uint8_t {
  kUnknown,    // how it was made was not recorded
  kFetchWait,  // the dataset waits: for storage, a network, a lock
  kFetchWork,  // the dataset computes
  kTransform,
  kCollate,
  kNoCore,    // ready to run, and no core was free
  kStartUp,   // its worker had not begun yet: the first batch of a pass
  kHandOver,  // it was made in time: queue, copy, pinning
};
std::string_view name_of(LateCause cause);
LateCause why_late(const BatchWait& wait, const MadeBatch* made);

}  // namespace stepscope::analysis
