#include "analysis/arithmetic/share_out.h"

#include <utility>

namespace stepscope::analysis {

std::vector<Intervals> without_earlier(std::vector<Intervals> by_priority) {
  Intervals taken;
  for (Intervals& set : by_priority) {
    Intervals own = subtract(set, taken);
    taken = unite(taken, own);
    set = std::move(own);
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
