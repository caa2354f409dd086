#include "analysis/memory/pinned_host.h"

#include <algorithm>

#include "analysis/memory/history/allocations.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {
namespace {

struct HostSegments {
  base::Bytes held = 0;
  std::uint64_t count = 0;
};

HostSegments segments_of(const memory::Snapshot& snapshot, std::int32_t device) {
  HostSegments out;
  for (const memory::Segment& segment : snapshot.segments) {
    if (!segment.is_host || segment.device != device) continue;
    out.held += segment.total;
    ++out.count;
  }
  return out;
}

void add_history(base::Table& table, const SnapshotView& view, const memory::History& history) {
  const HostSegments segments = segments_of(*view.snapshot, history.device);
  if (history.length() == 0 && segments.count == 0) return;
  const Allocations allocations = find_allocations(*view.snapshot, history);
  base::Bytes before = 0;
  base::Bytes total = 0;
  for (const Allocation& life : allocations.list) {
    if (!life.is_older()) {
      total += life.requested;
    } else if (!life.let_go_before) {
      before += life.requested;
    }
  }
  const std::vector<base::Bytes> after = live_bytes(allocations, history);
  const auto peak = std::ranges::max_element(after);
  const bool at_the_start = peak == after.end() || before >= *peak;
  base::Cell when = base::Null{};
  if (!at_the_start && history.time[0] != memory::kNoTime) {
    when = history.time[static_cast<std::size_t>(peak - after.begin())] - history.time[0];
  }
  table.add({view.rank, view.label, after.empty() ? before : after.back(),
             at_the_start ? before : *peak, when, total,
             allocations.list.size() - allocations.older, segments.held, segments.count,
             history.length()});
}

}  // namespace

void add_pinned_host(base::Table& table, const SnapshotView& view) {
  bool has_history = false;
  for (const memory::History& history : view.snapshot->histories) {
    if (!history.is_host) continue;
    has_history = true;
    add_history(table, view, history);
  }
  const HostSegments segments = segments_of(*view.snapshot, 0);
  if (has_history || segments.count == 0) return;
  table.add({view.rank, view.label, base::Null{}, base::Null{}, base::Null{}, base::Null{},
             base::Null{}, segments.held, segments.count, 0});
}

}  // namespace stepscope::analysis
