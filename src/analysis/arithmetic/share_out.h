// Shares out time among roles that overlap, by priority: a moment goes to the first role that is
// on. Parts and the rest add up to the whole exactly.
#pragma once

#include <vector>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {

// The same sets, each without what those before it cover. One pass per set.
std::vector<Intervals> without_earlier(std::vector<Intervals> by_priority);

// Asks many stretches of time for their parts.
class Sharer {
 public:
  explicit Sharer(std::vector<Intervals> by_priority);
  // One length per role, in the order of the roles, then the rest.
  std::vector<base::Nanos> parts(Interval within) const;

 private:
  std::vector<Coverage> roles_;
};

}  // namespace stepscope::analysis
