// Why a loader does not keep up, from what its workers recorded of themselves: slow storage, an
// expensive transform, too few workers or cores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

struct LoaderCause {
  std::string loader = {};
  std::string cause = {};    // as the analysis `loader` names it; empty: nobody recorded it
  std::int64_t workers = 0;  // 0: the training loop itself
  std::int64_t late_worker = -1;
  double make_ns = 0;     // one batch
  double between_ns = 0;  // from one question for a batch to the next, without the waiting
  double fetch_share = 0, transform_share = 0, collate_share = 0, starved_share = 0;
  double bytes_per_batch = 0;

  bool known() const { return !cause.empty(); }
  // Whether the same work by more processes would come in time.
  bool workers_help() const;
  // That would keep up, each on a core of its own; at least one.
  std::int64_t workers_needed() const;
  void explain(Sentence& into) const;
  std::optional<Change> change() const;
};

// Of the training loader of this rank that was waited for longest.
LoaderCause loader_cause(const Facts& facts, std::int32_t rank);

}  // namespace stepscope::advice
