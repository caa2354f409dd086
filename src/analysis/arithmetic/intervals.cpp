// Operations on sets of time: each one pass over sorted intervals.
#include "analysis/arithmetic/intervals.h"

#include <algorithm>

#include "analysis/arithmetic/sorted_runs.h"

namespace stepscope::analysis {

Intervals sorted_union(std::vector<Interval> any_order) {
  sort_runs(any_order, [](const Interval& a, const Interval& b) { return a.start < b.start; });
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
  Intervals out;
  out.reserve(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool first = j == b.size() || (i < a.size() && a[i].start <= b[j].start);
    const Interval& next = first ? a[i++] : b[j++];
    if (!out.empty() && next.start <= out.back().end) {
      out.back().end = std::max(out.back().end, next.end);
    } else {
      out.push_back(next);
    }
  }
  return out;
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
    // What ends after `whole` stays: it may cover the next one too.
    for (; j < b.size() && b[j].start < whole.end; ++j) {
      if (b[j].start > at) out.push_back({at, b[j].start});
      at = b[j].end;
      if (at >= whole.end) break;
    }
    if (at < whole.end) out.push_back({at, whole.end});
  }
  return out;
}

Intervals clip(std::span<const Interval> set, Interval to) {
  Intervals out;
  if (to.end <= to.start) return out;
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

Coverage::Coverage(std::span<const Interval> set) : set_(set.begin(), set.end()) {
  sums_.reserve(set_.size());
  base::Nanos sum = 0;
  for (const Interval& i : set_) {
    sums_.push_back(sum);
    sum += i.length();
  }
}

base::Nanos Coverage::before(base::Nanos time) const {
  const auto after = std::ranges::upper_bound(set_, time, {}, &Interval::start);
  if (after == set_.begin()) return 0;
  const auto last = after - 1;
  return sums_[static_cast<std::size_t>(last - set_.begin())] + std::min(time, last->end) -
         last->start;
}

}  // namespace stepscope::analysis
