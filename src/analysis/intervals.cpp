#include "analysis/intervals.h"

#include <algorithm>

namespace stepscope::analysis {

Intervals sorted_union(std::vector<Interval> any_order) {
  std::ranges::sort(any_order, {}, &Interval::start);
  Union out;
  for (const Interval& i : any_order) out.add(i.start, i.end);
  return out.take();
}

base::Nanos total(std::span<const Interval> set) {
  base::Nanos sum = 0;
  for (const Interval& i : set) sum += i.length();
  return sum;
}

Intervals unite(std::span<const Interval> a, std::span<const Interval> b) {
  Union out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool first = j == b.size() || (i < a.size() && a[i].start <= b[j].start);
    const Interval& next = first ? a[i++] : b[j++];
    out.add(next.start, next.end);
  }
  return out.take();
}

Intervals intersect(std::span<const Interval> a, std::span<const Interval> b) {
  Intervals out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const base::Nanos start = std::max(a[i].start, b[j].start);
    const base::Nanos end = std::min(a[i].end, b[j].end);
    if (start < end) out.push_back({start, end});
    (a[i].end < b[j].end ? i : j) += 1;
  }
  return out;
}

Intervals subtract(std::span<const Interval> a, std::span<const Interval> b) {
  Intervals out;
  std::size_t j = 0;
  for (const Interval& whole : a) {
    base::Nanos at = whole.start;
    while (j < b.size() && b[j].end <= at) ++j;
    for (std::size_t k = j; k < b.size() && b[k].start < whole.end; ++k) {
      if (b[k].start > at) out.push_back({at, b[k].start});
      at = std::max(at, b[k].end);
      if (at < whole.end) j = k;
    }
    if (at < whole.end) out.push_back({at, whole.end});
  }
  return out;
}

Intervals clip(std::span<const Interval> set, Interval to) {
  Intervals out;
  const auto first =
      std::ranges::partition_point(set, [&](const Interval& i) { return i.end <= to.start; });
  for (auto i = first; i != set.end() && i->start < to.end; ++i) {
    out.push_back({std::max(i->start, to.start), std::min(i->end, to.end)});
  }
  return out;
}

base::Nanos common(std::span<const Interval> a, std::span<const Interval> b) {
  base::Nanos sum = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const base::Nanos start = std::max(a[i].start, b[j].start);
    const base::Nanos end = std::min(a[i].end, b[j].end);
    if (start < end) sum += end - start;
    (a[i].end < b[j].end ? i : j) += 1;
  }
  return sum;
}

base::Nanos covered(std::span<const Interval> set, Interval within) {
  base::Nanos sum = 0;
  const auto first =
      std::ranges::partition_point(set, [&](const Interval& i) { return i.end <= within.start; });
  for (auto i = first; i != set.end() && i->start < within.end; ++i) {
    sum += std::min(i->end, within.end) - std::max(i->start, within.start);
  }
  return sum;
}

base::Nanos Cursor::covered(Interval within) {
  while (at_ < set_.size() && set_[at_].end <= within.start) ++at_;
  base::Nanos sum = 0;
  for (std::size_t i = at_; i < set_.size() && set_[i].start < within.end; ++i) {
    sum += std::min(set_[i].end, within.end) - std::max(set_[i].start, within.start);
  }
  return sum;
}

}  // namespace stepscope::analysis
