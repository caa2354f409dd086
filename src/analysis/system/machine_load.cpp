#include "analysis/system/machine_load.h"

#include <algorithm>
#include <cmath>

namespace stepscope::analysis {
namespace {

// The count is written when it changes; before its first value that one is the best there is.
std::int64_t count_at(const Curve& counts, base::Nanos time) {
  const auto after = std::ranges::upper_bound(counts.times, time) - counts.times.begin();
  return counts.values[static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - 1, 0))];
}

}  // namespace

std::optional<Curve> machine_load(const NodeCurves& node) {
  const Curve* const busy = node.find("cpu.busy");
  const Curve* const counts = node.find("cpu.count");
  if (busy == nullptr || counts == nullptr) return std::nullopt;
  if (std::ranges::any_of(counts->values, [](std::int64_t count) { return count <= 0; })) {
    return std::nullopt;
  }
  Curve load{.about = busy->about, .times = busy->times, .values = {0}};
  load.values.reserve(busy->values.size());
  std::int64_t before = count_at(*counts, busy->times.front());
  double total = 0;  // of nanoseconds: exact far beyond the length of any run
  for (std::size_t i = 1; i < busy->values.size(); ++i) {
    const std::int64_t now = count_at(*counts, busy->times[i]);
    // A total that began anew falls here too.
    total += static_cast<double>(busy->values[i] - busy->values[i - 1]) /
             static_cast<double>(std::min(before, now));
    load.values.push_back(std::llround(total));
    before = now;
  }
  return load;
}

}  // namespace stepscope::analysis
