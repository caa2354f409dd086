// The nodes of a tree of ranges in the order people read them: each below the one around it, the
// longest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/recording/range_tree.h"

namespace stepscope::analysis {

struct RangeLimits {
  std::size_t top = 0;    // 0: all
  std::size_t depth = 0;  // so too
};

struct ListedRange {
  std::uint32_t node;
  std::string path;  // "epoch > step > forward"
};

struct RangeListing {
  std::vector<ListedRange> rows;
  std::size_t left_out = 0;
};

// Ranges that were never entered are left out, unless others were inside them.
RangeListing list_ranges(const RangeTree& tree, const RangeLimits& limits);

// One range on the ranks that have it.
struct RangeOverRanks {
  std::uint64_t ranks = 0;
  base::Nanos least = 0, most = 0;  // total time on one rank
  std::int32_t slowest = 0;         // the rank with the most; of several the lowest
};

// By node of `all`, into which the trees of the ranks were merged.
std::vector<RangeOverRanks> over_ranks(RangeTree& all,
                                       const std::map<std::int32_t, RangeTree>& ranks);

}  // namespace stepscope::analysis
