// What would have made room for a request that failed, with bytes: from the settings that cost
// nothing to the changes that cost speed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory/simulated/forecast.h"
#include "analysis/memory/snapshot_work.h"

namespace stepscope::analysis {

// What was in use when a request failed.
struct AliveGroup {
  std::uint32_t group = 0;  // the place in the program
  Category category = Category::kUnknown;
  base::Bytes bytes = 0;
  std::uint64_t count = 0;
  AllocationId first = kNoAllocation;
};

struct Failure {
  std::uint32_t event = 0;
  base::Bytes asked = 0;        // rounded
  base::Bytes from_driver = 0;  // what would have been taken from the driver for it
  base::Bytes driver_free = 0;  // as the driver said
  base::Bytes short_by = 0;     // this much less in use, returned to the driver, would do
  bool is_own_limit = false;    // the driver had enough: the process may use only a share of it
  std::optional<Limit> limit;   // that one, as far as the record tells
  bool is_in_pieces = false;    // enough was free and of the right sort, but not in one piece
  const ReplayOom* state = nullptr;
  std::vector<AliveGroup> alive;  // the most first
  std::array<base::Bytes, kCategories> by_category = {};
};

Failure examine(const HistoryWork& work, std::size_t oom, std::uint32_t event);

struct Remedy {
  std::string what;                  // "expandable_segments:True"
  std::optional<base::Bytes> saves;  // not set: it helps without holding less
  Fits enough = Fits::kNo;
  std::string how;  // what to change, and what it costs
};

// The cheapest first. `batch` is the batch size, 0 if not known.
std::vector<Remedy> remedies(const HistoryWork& work, const StackTexts& texts,
                             const Failure& failure, const Forecasts& forecasts,
                             std::int64_t batch);

}  // namespace stepscope::analysis
