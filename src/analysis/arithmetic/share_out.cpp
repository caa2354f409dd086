#include "analysis/arithmetic/share_out.h"

namespace stepscope::analysis {

std::vector<std::vector<base::Nanos>> share_out(
    std::span<const std::span<const Interval>> by_priority, std::span<const Interval> stretches) {
  std::vector<std::vector<base::Nanos>> out(stretches.size());
  std::vector<base::Nanos> before(stretches.size());  // what the roles so far cover
  Intervals own;
  std::span<const Interval> taken;
  for (const std::span<const Interval> role : by_priority) {
    if (taken.empty()) {
      taken = role;
    } else if (!role.empty()) {  // as many are
      own = unite(taken, role);
      taken = own;
    }
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const base::Nanos covered_now = role.empty() ? before[i] : covered(taken, stretches[i]);
      out[i].push_back(covered_now - before[i]);
      before[i] = covered_now;
    }
  }
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    out[i].push_back(stretches[i].length() - before[i]);
  }
  return out;
}

}  // namespace stepscope::analysis
