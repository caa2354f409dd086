#include "analysis/memory/history/step_events.h"

#include <algorithm>

namespace stepscope::analysis {
namespace {

// The first event at or behind a time. Times of one history rise.
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

}  // namespace stepscope::analysis
