// What torch.cuda.memory_stats counts, counted in the same order, so that peaks agree too.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace stepscope::analysis::allocator {

struct Figure {
  std::int64_t current = 0, peak = 0, allocated = 0, freed = 0;
  void increase(std::int64_t by) {
    current += by;
    peak = std::max(peak, current);
    allocated += by;
  }
  void decrease(std::int64_t by) {
    current -= by;
    freed += by;
  }
};

enum class Stat : std::uint8_t {
  kAllocation,  // counts
  kSegment,
  kActive,
  kInactiveSplit,
  kAllocatedBytes,  // bytes
  kReservedBytes,
  kActiveBytes,
  kInactiveSplitBytes,
  kRequestedBytes,
  kCount
};
// As a key of memory_stats: "allocation", …, "requested_bytes".
std::string_view name_of(Stat stat);

enum class Part : std::uint8_t { kAll, kLargePool, kSmallPool, kCount };
std::string_view name_of(Part part);  // "all", "large_pool", "small_pool"

class Statistics {
 public:
  const Figure& operator()(Stat stat, Part part = Part::kAll) const {
    return figures_[static_cast<std::size_t>(stat)][static_cast<std::size_t>(part)];
  }
  void increase(Stat stat, bool small, std::int64_t by) {
    at(stat, Part::kAll).increase(by);
    at(stat, small ? Part::kSmallPool : Part::kLargePool).increase(by);
  }
  void decrease(Stat stat, bool small, std::int64_t by) {
    at(stat, Part::kAll).decrease(by);
    at(stat, small ? Part::kSmallPool : Part::kLargePool).decrease(by);
  }
  // What is there now was there before anything was counted.
  void begin_here() {
    for (auto& parts : figures_) {
      for (Figure& figure : parts) figure = {figure.current, figure.current, 0, 0};
    }
  }

 private:
  Figure& at(Stat stat, Part part) {
    return figures_[static_cast<std::size_t>(stat)][static_cast<std::size_t>(part)];
  }
  std::array<std::array<Figure, static_cast<std::size_t>(Part::kCount)>,
             static_cast<std::size_t>(Stat::kCount)>
      figures_ = {};
};

}  // namespace stepscope::analysis::allocator
