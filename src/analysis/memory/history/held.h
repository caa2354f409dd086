// What the program held at one moment, added up by stack and category.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/memory/history/allocated.h"

namespace stepscope::analysis {

struct HeldSum {
  base::Bytes bytes = 0;
  std::uint64_t allocations = 0;
  base::Bytes largest = 0;
  AllocationId oldest = kNoAllocation;  // the first of them

  void add(AllocationId life, base::Bytes size) {
    bytes += size;
    ++allocations;
    if (size > largest) largest = size;
    if (oldest == kNoAllocation) oldest = life;
  }
};

// One group of stacks, with one category of what was allocated there.
struct HeldStack {
  std::uint32_t group = 0;  // of StackTexts
  Category category = Category::kUnknown;
  HeldSum sum;
};

struct Held {
  std::uint32_t event = kNoEvent;
  HeldSum all;
  std::array<HeldSum, kCategories> categories;
  std::vector<HeldStack> stacks;          // the most bytes first
  std::vector<AllocationId> allocations;  // in the order of Allocations::list
};

Held held_at(const HistoryWork& work, std::uint32_t event);

}  // namespace stepscope::analysis
