// Rows of a track without overlaps, and lines of counters, indexed for quick sums.
#include "session/timeline/lane.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

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

namespace {

using trace::Row;

constexpr std::uint16_t kNoShard = 0xffff;

bool is_on_a_row(const trace::Trace& trace, Row row) {
  return trace.phase()[row] != trace::Phase::kCounter && trace.kind()[row] != trace::Kind::kMemory;
}

// What keeps rows of its own, from the top: what surrounds a stream's work, the work or the calls,
// and what runs beside them.
enum Belt : std::uint8_t { kAround, kMiddle, kBeside, kBelts };

Belt belt_of(const trace::Trace& trace, const trace::Track& track, Row row) {
  const trace::Phase phase = trace.phase()[row];
  if (phase == trace::Phase::kAsyncSpan || phase == trace::Phase::kAsyncInstant) return kBeside;
  if (!track.is_device) return kMiddle;
  const trace::Kind kind = trace.kind()[row];
  if (kind == trace::Kind::kGpuAnnotation) return kAround;
  return is_device_work(kind) ? kMiddle : kBeside;
}

struct Rows {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<base::Nanos> free_from;  // when the last event of each has ended

  std::size_t free_at(base::Nanos time, std::size_t lane) const {
    while (lane < free_from.size() && free_from[lane] > time) ++lane;
    return lane;
  }
  void put(Row row, base::Nanos end, std::size_t lane) {
    while (free_from.size() <= lane) {
      free_from.push_back(std::numeric_limits<base::Nanos>::min());
      rows.emplace_back();
    }
    free_from[lane] = end;
    rows[lane].push_back(row);
  }
};

}  // namespace

TrackLanes lanes_of(const trace::Trace& trace, const trace::Track& track) {
  TrackLanes out;
  std::array<Rows, kBelts> belts;
  std::vector<std::uint16_t> lane_of(track.end - track.begin, kNoShard);
  for (Row row = track.begin; row < track.end; ++row) {
    if (!is_on_a_row(trace, row)) continue;
    ++out.events;
    if ((trace.flags()[row] & trace::kFarTime) != 0) {
      ++out.not_drawn;
      continue;
    }
    Rows& belt = belts[belt_of(trace, track, row)];
    const Row parent = trace.parent()[row];
    std::size_t lane = 0;
    if (parent != trace::kNoRow && parent >= track.begin && parent < row &&
        lane_of[parent - track.begin] != kNoShard) {
      lane = lane_of[parent - track.begin] + std::size_t{1};
    }
    lane = belt.free_at(trace.start()[row], lane);
    if (lane >= kMostLanes) {
      ++out.not_drawn;
      continue;
    }
    belt.put(row, trace.end(row), lane);
    lane_of[row - track.begin] = static_cast<std::uint16_t>(lane);
  }
  for (Rows& belt : belts) {
    for (auto& items : belt.rows) {
      if (items.empty()) continue;  // callers that are not drawn
      out.lanes.emplace_back(trace.start(), trace.duration(), std::move(items));
    }
  }
  return out;
}

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
