#include "analysis/arithmetic/share_out.h"

#include <utility>

namespace stepscope::analysis {

std::vector<Intervals> without_earlier(std::vector<Intervals> by_priority) {
  Intervals taken;
  for (std::size_t i = 0; i < by_priority.size(); ++i) {
    Intervals& set = by_priority[i];
    if (set.empty()) continue;  // as many are
    if (!taken.empty()) set = subtract(set, taken);
    if (i + 1 < by_priority.size()) taken = taken.empty() ? set : unite(taken, set);
  }
  return by_priority;
}

Sharer::Sharer(std::vector<Intervals> by_priority) {
  for (const Intervals& set : without_earlier(std::move(by_priority))) roles_.emplace_back(set);
}

std::vector<base::Nanos> Sharer::parts(Interval within) const {
  std::vector<base::Nanos> lengths;
  base::Nanos rest = within.length();
  for (const Coverage& role : roles_) {
    lengths.push_back(role.covered(within));
    rest -= lengths.back();
  }
  lengths.push_back(rest);
  return lengths;
}

}  // namespace stepscope::analysis
