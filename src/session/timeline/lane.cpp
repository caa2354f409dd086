#include "session/timeline/lane.h"

#include <algorithm>

namespace stepscope::session {

using base::Nanos;

Lane::Lane(std::span<const Nanos> start, std::span<const Nanos> duration,
           std::vector<std::uint32_t> items)
    : start_(start), duration_(duration), items_(std::move(items)) {
  items_.shrink_to_fit();
  const std::size_t blocks = (items_.size() + kBlock - 1) / kBlock;
  sums_.reserve(blocks + 1);
  std::vector<std::uint32_t> level;
  level.reserve(blocks);
  Nanos sum = 0;
  for (std::size_t begin = 0; begin < items_.size(); begin += kBlock) {
    sums_.push_back(sum);
    std::size_t best = begin;
    const std::size_t end = std::min(begin + kBlock, items_.size());
    for (std::size_t i = begin; i < end; ++i) {
      sum += this->duration(i);
      best = longer(best, i);
    }
    level.push_back(static_cast<std::uint32_t>(best));
  }
  sums_.push_back(sum);
  while (level.size() > 1) {
    std::vector<std::uint32_t> above;
    for (std::size_t begin = 0; begin < level.size(); begin += kBlock) {
      std::size_t best = level[begin];
      const std::size_t end = std::min(begin + kBlock, level.size());
      for (std::size_t i = begin + 1; i < end; ++i) best = longer(best, level[i]);
      above.push_back(static_cast<std::uint32_t>(best));
    }
    longest_.push_back(std::move(level));
    level = std::move(above);
  }
  longest_.push_back(std::move(level));
}

std::size_t Lane::first_at(Nanos time, std::size_t from) const {
  std::size_t step = 1;
  std::size_t low = from;
  while (low + step <= items_.size() && start(low + step - 1) < time) {
    low += step;
    step *= 2;
  }
  std::size_t high = std::min(low + step, items_.size());
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (start(middle) < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Nanos Lane::total(std::size_t begin, std::size_t end) const {
  const auto before = [&](std::size_t position) {
    Nanos sum = sums_[position / kBlock];
    for (std::size_t i = position / kBlock * kBlock; i < position; ++i) sum += duration(i);
    return sum;
  };
  return begin < end ? before(end) - before(begin) : 0;
}

std::size_t Lane::longest(std::size_t begin, std::size_t end) const {
  // Whole blocks by their longest, level by level; the ragged edges one by one.
  std::size_t left = begin;
  std::size_t right = begin;  // the best of the right edges, which come from right to left
  bool has_right = false;
  std::size_t best = begin;
  const auto from_left = [&](std::size_t position) { best = longer(best, position); };
  const auto from_right = [&](std::size_t position) {
    right = has_right && duration(right) > duration(position) ? right : position;
    has_right = true;
  };
  std::size_t level = 0;  // 0: positions, then longest_[level - 1]
  const auto position_of = [&](std::size_t node) {
    return level == 0 ? node : longest_[level - 1][node];
  };
  std::size_t stop = end;
  while (left < stop) {
    while (left < stop && left % kBlock != 0) from_left(position_of(left++));
    while (left < stop && stop % kBlock != 0) from_right(position_of(--stop));
    if (left >= stop) break;
    left /= kBlock;
    stop /= kBlock;
    ++level;
  }
  return has_right ? longer(best, right) : best;
}

void Lane::descend(std::size_t level, std::size_t node, Nanos duration, std::size_t begin,
                   std::size_t end, const std::function<void(std::size_t)>& visit) const {
  std::size_t width = kBlock;  // positions below a node of this level
  for (std::size_t i = 0; i < level; ++i) width *= kBlock;
  const std::size_t first = node * width;
  if (first >= end || first + width <= begin) return;
  if (this->duration(longest_[level][node]) < duration) return;
  if (level == 0) {
    const std::size_t stop = std::min({first + width, end, items_.size()});
    for (std::size_t i = std::max(first, begin); i < stop; ++i) {
      if (this->duration(i) >= duration) visit(i);
    }
    return;
  }
  const std::size_t stop = std::min((node + 1) * kBlock, longest_[level - 1].size());
  for (std::size_t i = node * kBlock; i < stop; ++i) {
    descend(level - 1, i, duration, begin, end, visit);
  }
}

void Lane::at_least(Nanos duration, std::size_t begin, std::size_t end,
                    const std::function<void(std::size_t)>& visit) const {
  if (begin >= end) return;
  descend(longest_.size() - 1, 0, duration, begin, end, visit);
}

std::size_t Lane::memory() const {
  std::size_t bytes = items_.capacity() * sizeof(items_[0]) + sums_.capacity() * sizeof(sums_[0]);
  for (const auto& level : longest_) bytes += level.capacity() * sizeof(level[0]);
  return bytes;
}

}  // namespace stepscope::session
