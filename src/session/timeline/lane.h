// One row of a track: events that do not overlap, by start. Any stretch of it is summed up without
// looking at every event: sums per block, and a tree of the longest. Some 5 bytes an event.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "trace/trace.h"

namespace stepscope::session {

class Lane {
 public:
  // `items` index the two columns, which must outlive the lane; they come by start and the next
  // begins no earlier than the one before has ended.
  Lane(std::span<const base::Nanos> start, std::span<const base::Nanos> duration,
       std::vector<std::uint32_t> items);

  std::size_t size() const { return items_.size(); }
  std::uint32_t item(std::size_t position) const { return items_[position]; }
  std::span<const std::uint32_t> items() const { return items_; }
  base::Nanos start(std::size_t position) const { return start_[items_[position]]; }
  base::Nanos duration(std::size_t position) const { return duration_[items_[position]]; }
  base::Nanos end(std::size_t position) const { return start(position) + duration(position); }

  // The first position in [from, size()) that begins at this time or later. Quick when it is near.
  std::size_t first_at(base::Nanos time, std::size_t from = 0) const;

  // Of the positions [begin, end).
  base::Nanos total(std::size_t begin, std::size_t end) const;
  std::size_t longest(std::size_t begin, std::size_t end) const;  // of equals the first; not empty
  // Calls visit(position) in order for those that last at least so long.
  void at_least(base::Nanos duration, std::size_t begin, std::size_t end,
                const std::function<void(std::size_t)>& visit) const;

  std::size_t memory() const;

 private:
  static constexpr std::size_t kBlock = 16;

  std::size_t longer(std::size_t a, std::size_t b) const {
    return duration(b) > duration(a) ? b : a;
  }
  void descend(std::size_t level, std::size_t node, base::Nanos duration, std::size_t begin,
               std::size_t end, const std::function<void(std::size_t)>& visit) const;

  std::span<const base::Nanos> start_, duration_;
  std::vector<std::uint32_t> items_;
  std::vector<base::Nanos> sums_;                    // of all before each block
  std::vector<std::vector<std::uint32_t>> longest_;  // positions: of blocks, of 16 blocks, …
};

// Puts the events of a track on rows on which they do not overlap, each below its caller.

inline constexpr std::size_t kMostLanes = 512;

struct TrackLanes {
  std::vector<Lane> lanes;
  std::uint64_t events = 0;
  std::uint64_t not_drawn = 0;  // at implausible times, or no row was free
};

// Allocations and counters are lines over time, not events on a row.
TrackLanes lanes_of(const trace::Trace& trace, const trace::Track& track);

// A line over time: samples by time, with a tree of lowest and highest values, so that a column of
// any width is found without looking at every sample.

struct Extent {
  double min = 0, max = 0;
};

class CounterLine {
 public:
  struct Sample {
    base::Nanos time = 0;
    double value = 0;
  };

  CounterLine() = default;
  explicit CounterLine(std::vector<Sample> by_time);

  std::size_t size() const { return samples_.size(); }
  const Sample& operator[](std::size_t position) const { return samples_[position]; }
  std::size_t first_at(base::Nanos time) const;
  // Of the positions [begin, end), which are not none.
  Extent extent(std::size_t begin, std::size_t end) const;
  // Mean over [from, to) by time, of the part in which there is a value.
  std::optional<double> mean(base::Nanos from, base::Nanos to) const;

 private:
  static constexpr std::size_t kBlock = 16;
  std::vector<Sample> samples_;
  std::vector<std::vector<Extent>> blocks_;  // of 16 samples, of 16 blocks, …
};

}  // namespace stepscope::session
