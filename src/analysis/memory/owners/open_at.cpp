#include "analysis/memory/owners/open_at.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace stepscope::analysis {

OpenAt::OpenAt(std::vector<NamedSpan> spans) {
  std::ranges::sort(spans, [](const NamedSpan& a, const NamedSpan& b) {
    return std::tuple(a.start, b.end, a.name) < std::tuple(b.start, a.end, b.name);
  });
  std::vector<base::Nanos> times;
  times.reserve(2 * spans.size());
  for (const NamedSpan& span : spans) {
    times.push_back(span.start);
    times.push_back(span.end);
  }
  std::ranges::sort(times);
  const auto twins = std::ranges::unique(times);
  times.erase(twins.begin(), twins.end());
  std::priority_queue<std::size_t> open;  // the last begun first
  std::size_t next = 0;
  for (const base::Nanos time : times) {
    for (; next < spans.size() && spans[next].start <= time; ++next) open.push(next);
    while (!open.empty() && spans[open.top()].end <= time) open.pop();
    const std::uint32_t name = open.empty() ? kNothing : spans[open.top()].name;
    if (changes_.empty() || changes_.back().name != name) changes_.push_back({time, name});
  }
}

std::uint32_t OpenAt::at(base::Nanos time) const {
  const auto after = std::ranges::upper_bound(changes_, time, {}, &Change::time);
  return after == changes_.begin() ? kNothing : std::prev(after)->name;
}

}  // namespace stepscope::analysis
