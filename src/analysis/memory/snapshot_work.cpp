#include "analysis/memory/snapshot_work.h"

namespace stepscope::analysis {
namespace {

HistoryWork work_on(const SnapshotView& view, const memory::History& history,
                    const StackTexts& texts) {
  const memory::Snapshot& snapshot = *view.snapshot;
  HistoryWork work;
  work.history = &history;
  work.allocations = find_allocations(snapshot, history);
  work.replay = follow(snapshot, history, work.allocations);
  work.categories = categorise(snapshot, history, work.allocations);
  work.steps = step_events(view.steps, history, work.categories.passes);
  work.group.reserve(work.allocations.list.size());
  for (const Allocation& life : work.allocations.list)
    work.group.push_back(texts.group(life.stack));
  return work;
}

}  // namespace

base::Nanos HistoryWork::at_ns(std::uint32_t event) const {
  const std::size_t events = history->length();
  if (event >= events || history->time[0] == memory::kNoTime) return 0;
  return history->time[event] - history->time[0];
}

SnapshotWork::SnapshotWork(const SnapshotView& view) : texts(*view.snapshot) {
  for (const memory::History& history : view.snapshot->histories) {
    if (!history.is_host) devices.push_back(work_on(view, history, texts));
  }
}

const SnapshotWork& work_of(const SnapshotView& view) {
  return view.work->get([&] { return SnapshotWork(view); });
}

}  // namespace stepscope::analysis
