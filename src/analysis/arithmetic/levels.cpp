// Quantities that change in steps over time, and the sums of their changes.
#include "analysis/arithmetic/levels.h"

#include <algorithm>
#include <cmath>

#include "analysis/arithmetic/sorted_runs.h"

namespace stepscope::analysis {

using base::Nanos;

std::vector<Level> levels(std::vector<Change> changes) {
  sort_runs(changes, [](const Change& a, const Change& b) { return a.time < b.time; });
  std::vector<Level> out;
  std::int64_t value = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Nanos time = changes[i].time;
    std::int64_t by = 0;
    for (; i < changes.size() && changes[i].time == time; ++i) by += changes[i].by;
    value += by;
    if (by != 0) out.push_back({time, value});
  }
  return out;
}

std::vector<Level> thinned(std::span<const Level> all, std::size_t points) {
  if (points == 0 || all.size() <= points) return {all.begin(), all.end()};
  const Nanos start = all.front().time;
  const Nanos width = (all.back().time - start) / static_cast<Nanos>(points) + 1;
  std::vector<Level> out;
  for (std::size_t i = 0; i < all.size();) {
    const Nanos stretch = (all[i].time - start) / width;
    Level best = all[i];
    for (; i < all.size() && (all[i].time - start) / width == stretch; ++i) {
      if (all[i].value > best.value) best = all[i];
    }
    out.push_back(best);
  }
  return out;
}

std::vector<Level> cut(std::span<const Level> all, std::span<const Interval> within) {
  std::vector<Level> out;
  std::size_t at = 0;
  for (const Interval& stretch : within) {
    while (at < all.size() && all[at].time <= stretch.start) ++at;
    out.push_back({stretch.start, at == 0 ? 0 : all[at - 1].value});
    for (; at < all.size() && all[at].time < stretch.end; ++at) out.push_back(all[at]);
  }
  return out;
}

TimeAtLevel::TimeAtLevel(std::span<const Level> all, std::span<const Interval> within) {
  std::size_t at = 0;
  for (const Interval& stretch : within) {
    Nanos time = stretch.start;
    while (at < all.size() && all[at].time <= time) ++at;
    while (time < stretch.end) {
      const Nanos next = at < all.size() && all[at].time < stretch.end ? all[at].time : stretch.end;
      add(at == 0 ? 0 : all[at - 1].value, next - time);
      time = next;
      if (time < stretch.end) ++at;
    }
  }
  settle();
}

// Levels are small numbers, as a rule: these are added up where they stand.
void TimeAtLevel::add(std::int64_t value, Nanos time) {
  constexpr std::int64_t kSmall = 1 << 16;
  if (value < 0 || value >= kSmall) {
    times_.emplace_back(value, time);
    return;
  }
  const auto at = static_cast<std::size_t>(value);
  if (at >= small_.size()) small_.resize(std::max(at + 1, 2 * small_.size()));
  small_[at] += time;
}

void TimeAtLevel::settle() {
  for (std::size_t value = 0; value < small_.size(); ++value) {
    if (small_[value] > 0) times_.emplace_back(static_cast<std::int64_t>(value), small_[value]);
  }
  small_ = {};
  std::ranges::sort(times_);
  std::size_t kept = 0;
  for (const auto& [value, time] : times_) {
    if (kept > 0 && times_[kept - 1].first == value) {
      times_[kept - 1].second += time;
    } else {
      times_[kept++] = {value, time};
    }
  }
  times_.resize(kept);
}

void TimeAtLevel::merge(const TimeAtLevel& other) {
  times_.insert(times_.end(), other.times_.begin(), other.times_.end());
  settle();
}

void TimeAtLevel::leave_out_zero() {
  std::erase_if(times_, [](const auto& entry) { return entry.first == 0; });
}

Nanos TimeAtLevel::total() const {
  Nanos sum = 0;
  for (const auto& [value, time] : times_) sum += time;
  return sum;
}

double TimeAtLevel::mean() const {
  __extension__ using Wide = __int128;
  Wide area = 0;
  for (const auto& [value, time] : times_) area += static_cast<Wide>(value) * time;
  const Nanos time = total();
  return time == 0 ? 0 : static_cast<double>(area) / static_cast<double>(time);
}

std::int64_t TimeAtLevel::max() const { return times_.empty() ? 0 : times_.back().first; }

std::int64_t TimeAtLevel::percentile(double share) const {
  const auto wanted = static_cast<Nanos>(std::ceil(share * static_cast<double>(total())));
  Nanos sum = 0;
  for (const auto& [value, time] : times_) {
    sum += time;
    if (sum >= wanted) return value;
  }
  return max();
}

Nanos TimeAtLevel::at_least(std::int64_t value) const {
  Nanos sum = 0;
  for (const auto& [level, time] : times_) sum += level >= value ? time : 0;
  return sum;
}

Nanos TimeAtLevel::at_zero() const {
  Nanos sum = 0;
  for (const auto& [level, time] : times_) sum += level == 0 ? time : 0;
  return sum;
}

}  // namespace stepscope::analysis
