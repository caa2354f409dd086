// The ranges of a recording by name and nesting: a node is a name below the names it was called
// under. Sums are integers, so trees of processes merge in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/arithmetic/durations.h"
#include "analysis/view.h"
#include "trace/process_record.h"

namespace stepscope::analysis {

// Where ranges ran: on the main thread they follow each other, elsewhere they run side by side.
enum class RangeSite : std::uint8_t { kMainThread, kThreads, kTasks, kWorkers };
inline constexpr std::size_t kRangeSites = 4;
std::string_view name_of(RangeSite site);
RangeSite site_of_track(const trace::Track& track, const trace::ProcessRecord& record);

struct RangeNode {
  std::string name;
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;  // of the outermost: 1
  std::uint64_t calls = 0;  // open ones too
  std::uint64_t open = 0;   // when the recording ended: they count up to there
  base::Nanos total = 0;
  base::Nanos self = 0;       // without the ranges inside
  base::Nanos cpu = 0;        // processor time of their thread, of those that noted it
  std::uint64_t clocked = 0;  // which are so many
  Durations ended = {};       // lengths of the ranges that were seen to end
};

class RangeTree {
 public:
  RangeTree();

  // The first nodes stand for the places themselves, in their order; a parent stands before its
  // children.
  const std::vector<RangeNode>& nodes() const { return nodes_; }
  std::vector<RangeNode>& nodes() { return nodes_; }
  RangeSite site_of(std::uint32_t node) const;
  std::uint32_t child(std::uint32_t parent, std::string_view name);
  void merge(const RangeTree& other);

  // Time that was recorded at each place, which shares are of.
  std::array<base::Nanos, kRangeSites> recorded = {};

 private:
  std::vector<RangeNode> nodes_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t, std::less<>> children_;
};

// Of one process. Calls each(node, row) for every range that counts, where it is given.
RangeTree range_tree(const WindowView& recording,
                     std::function<void(std::uint32_t node, trace::Row row)> each = {});

// The nodes of a tree of ranges in the order people read them: each below the one around it, the
// longest first.

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
