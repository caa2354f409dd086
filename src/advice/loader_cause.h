// Why a loader does not keep up, from what its workers recorded of themselves: slow storage, an
// expensive transform, too few workers or cores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advice/facts.h"
#include "advice/finding.h"
#include "advice/job_processors.h"

namespace stepscope::advice {

struct LoaderCause {
  std::string loader = {};
  bool watched = false;      // else the rest is not known
  std::string cause = {};    // as the analysis `loader` names it; empty: not known
  bool late = false;         // some waits were long enough to count as such
  std::int64_t workers = 0;  // 0: the training loop itself
  std::int64_t late_worker = -1;
  double make_ns = 0;     // one batch; 0: not known
  double between_ns = 0;  // from one question for a batch to the next, without the waiting
  double fetch_share = 0, transform_share = 0, collate_share = 0, starved_share = 0;
  double bytes_per_batch = 0;
  bool reads_files = true;  // false: all it needs is in memory already
  bool on_gpu = true;
  std::optional<JobProcessors> cpus = std::nullopt;

  // Whether the same work by more processes would come in time, and there are processors for them.
  bool workers_help() const;
  // That would keep up, each on a core of its own; at least one.
  std::int64_t workers_needed() const;
  // To be written in the script: never more than the rank has processors for. Text, because where
  // the processors are not known the program must count them itself.
  std::string workers_to_set() const;
  void explain(Sentence& into) const;
  std::optional<Change> change() const;
};

// Of the training loader of this rank that was waited for longest.
LoaderCause loader_cause(const Facts& facts, std::int32_t rank);

}  // namespace stepscope::advice
