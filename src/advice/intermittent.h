// What happens in some of the steps only: how often a training does it, as far as a recording of a
// few steps can tell, and what follows for the gain.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

// Of all steps of the training, in how many it is.
struct Rate {
  double least = 0, most = 1;
  bool regular = true;     // as far as the recording shows, every so many steps
  std::int64_t every = 0;  // that many; 0: not known
};

// It was in `hit` of the recorded steps, given as places among `steps` of them that follow each
// other, window by window. Three times at the same distance is a program that counts steps, and the
// rate is known. What else seems to come every so many steps falls once more or once less into each
// window; what comes without order is bounded at 95 % (Wilson).
struct Window {
  std::int64_t steps = 0;
  std::vector<std::int64_t> hit;  // ascending
};
Rate rate_of(const std::vector<Window>& windows);

// Makes the gain hold for the training, where the stall was in some of the recorded steps only: it
// was told for these steps. Says so.
void widen_by_rate(Finding& finding, const Facts& facts, const RankSteps& rank,
                   std::string_view sort);

}  // namespace stepscope::advice
