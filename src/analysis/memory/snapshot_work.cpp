// Works out once what all analyses of one snapshot need.
#include "analysis/memory/snapshot_work.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/standard_input.h"

namespace stepscope::analysis {
namespace {

// The first event at or after a time. Times of one history rise.
std::uint32_t event_at(const memory::History& history, base::Nanos time) {
  const auto times = history.time.span();
  return static_cast<std::uint32_t>(std::ranges::lower_bound(times, time) - times.begin());
}

void add_marked(std::span<const SnapshotStep> steps, const memory::History& history,
                StepEvents& out) {
  if (steps.empty() || history.length() == 0 || history.time[0] == memory::kNoTime) return;
  for (const SnapshotStep& step : steps) {
    const std::uint32_t begin = event_at(history, step.start);
    const std::uint32_t end = event_at(history, step.end);
    if (begin == end) continue;  // nothing happened in it
    out.number.push_back(step.number);
    out.begin.push_back(begin);
    out.end = end;
  }
  // Of several runs of a schedule, say: a number that names several steps names none.
  out.counted =
      std::ranges::adjacent_find(out.number, std::ranges::greater_equal{}) != out.number.end();
  for (std::size_t i = 0; out.counted && i < out.number.size(); ++i) {
    out.number[i] = static_cast<std::int64_t>(i);
  }
}

void add_backward_passes(const Passes& passes, StepEvents& out) {
  // What happens between two backward passes belongs to the second: its forward pass.
  std::uint32_t begin = 0;
  for (const Pass& pass : passes.list) {
    if (pass.kind != PassKind::kBackward) continue;
    out.number.push_back(static_cast<std::int64_t>(out.number.size()));
    out.begin.push_back(begin);
    begin = out.end = pass.end;
  }
}

void add_equal_parts(std::size_t events, StepEvents& out) {
  for (std::size_t i = 0; i < kEqualParts; ++i) {
    const auto begin = static_cast<std::uint32_t>(i * events / kEqualParts);
    if (!out.begin.empty() && out.begin.back() == begin) continue;
    out.number.push_back(static_cast<std::int64_t>(i));
    out.begin.push_back(begin);
  }
  out.end = static_cast<std::uint32_t>(events);
}

}  // namespace

std::int32_t StepEvents::at(std::uint32_t event) const {
  if (event >= end) return -1;
  return static_cast<std::int32_t>(std::ranges::upper_bound(begin, event) - begin.begin()) - 1;
}

StepEvents step_events(std::span<const SnapshotStep> steps, const memory::History& history,
                       const Passes& passes) {
  StepEvents out;
  out.from = StepBorders::kMarked;
  add_marked(steps, history, out);
  if (out.size() > 0) return out;
  out.from = StepBorders::kBackwardPasses;
  add_backward_passes(passes, out);
  if (out.size() > 1) return out;
  out = {};
  add_equal_parts(history.length(), out);
  return out;
}

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

bool is_empty(const HistoryWork& work) {
  return work.history->length() == 0 && work.allocations.list.empty();
}

std::string said_of(const SnapshotView& view, const HistoryWork& work, std::string_view what) {
  return fmt::format("{}, device {}: {}", base::name_of_input(view.label), work.history->device,
                     what);
}

void say_if_nothing(Answer& answer) {
  if (answer.tables[0].rows() > 0 || !answer.remarks.empty()) return;
  answer.remarks.emplace_back("Nothing was allocated in what was recorded.");
}

void say_if_counted(Answer& answer, const SnapshotView& view, const HistoryWork& work) {
  if (!work.steps.counted) return;
  answer.remarks.push_back(said_of(
      view, work,
      "the program's own step numbers repeat or fall, so steps are counted by place, from 0."));
}

void add_remarks(Answer& answer, const SnapshotView& view, const HistoryWork& work) {
  const auto add_remark = [&](std::string_view what) {
    answer.remarks.push_back(said_of(view, work, what));
  };
  const Allocations& allocations = work.allocations;
  if (allocations.older > 0) {
    add_remark(
        fmt::format("{} {} of {:.1f} MiB in all {} older than the recorded history; peaks and "
                    "totals are of the history.",
                    allocations.older, allocations.older == 1 ? "allocation" : "allocations",
                    static_cast<double>(allocations.older_bytes) / (1 << 20),
                    allocations.older == 1 ? "is" : "are"));
  }
  for (const std::string& remark : remarks_on(allocations, *view.snapshot)) add_remark(remark);
  say_if_counted(answer, view, work);
  const bool has_allocations = allocations.list.size() > allocations.older;
  if (has_allocations && !work.categories.passes.has_stacks) {
    add_remark("no stacks were recorded, so nothing is known of what the memory holds.");
  }
}

}  // namespace stepscope::analysis
