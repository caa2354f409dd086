#include "session/timeline/counter_line.h"

#include <algorithm>
#include <utility>

namespace stepscope::session {
namespace {

Extent around(const Extent& a, const Extent& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

}  // namespace

CounterLine::CounterLine(std::vector<Sample> by_time) : samples_(std::move(by_time)) {
  std::vector<Extent> level;
  for (std::size_t begin = 0; begin < samples_.size(); begin += kBlock) {
    Extent extent{samples_[begin].value, samples_[begin].value};
    const std::size_t end = std::min(begin + kBlock, samples_.size());
    for (std::size_t i = begin; i < end; ++i) {
      extent = around(extent, {samples_[i].value, samples_[i].value});
    }
    level.push_back(extent);
  }
  while (level.size() > 1) {
    std::vector<Extent> above;
    for (std::size_t begin = 0; begin < level.size(); begin += kBlock) {
      Extent extent = level[begin];
      const std::size_t end = std::min(begin + kBlock, level.size());
      for (std::size_t i = begin; i < end; ++i) extent = around(extent, level[i]);
      above.push_back(extent);
    }
    blocks_.push_back(std::move(level));
    level = std::move(above);
  }
  blocks_.push_back(std::move(level));
}

std::size_t CounterLine::first_at(base::Nanos time) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(samples_, time, {}, &Sample::time) -
                                  samples_.begin());
}

Extent CounterLine::extent(std::size_t begin, std::size_t end) const {
  Extent all{samples_[begin].value, samples_[begin].value};
  std::size_t level = 0;  // 0: samples, then blocks_[level - 1]
  const auto take = [&](std::size_t node) {
    all = around(all, level == 0 ? Extent{samples_[node].value, samples_[node].value}
                                 : blocks_[level - 1][node]);
  };
  while (begin < end) {
    while (begin < end && begin % kBlock != 0) take(begin++);
    while (begin < end && end % kBlock != 0) take(--end);
    begin /= kBlock;
    end /= kBlock;
    ++level;
  }
  return all;
}

std::optional<double> CounterLine::mean(base::Nanos from, base::Nanos to) const {
  std::size_t position = first_at(from);
  if (position > 0) --position;  // its value still holds
  double sum = 0;
  base::Nanos known = 0;
  for (; position < samples_.size() && samples_[position].time < to; ++position) {
    const base::Nanos begin = std::max(from, samples_[position].time);
    const base::Nanos end =
        position + 1 < samples_.size() ? std::min(to, samples_[position + 1].time) : to;
    if (end <= begin) continue;
    sum += samples_[position].value * static_cast<double>(end - begin);
    known += end - begin;
  }
  if (known == 0) return std::nullopt;
  return sum / static_cast<double>(known);
}

}  // namespace stepscope::session
