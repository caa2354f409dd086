// Finds launches that did not return at once, and the calls of other threads that held them.
#include "analysis/idle/held_calls.h"

#include <algorithm>
#include <string_view>

#include "analysis/host/host_threads.h"
#include "analysis/name_sign.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// A launch takes 3 to 20 µs, also while it is recorded; one of a graph so much for each of its
// kernels.
constexpr Nanos kOfGraph = 10'000;

}  // namespace

Interval held_in_launch(const WindowView& window, const Gap& gap) {
  if (!is_of_host(gap.cause) || gap.after == Gap::kNobody) return {};
  const trace::Trace& trace = *window.trace;
  const Work& next = window.work[gap.after];
  if (next.launch == trace::kNoRow) return {};
  const Interval part{std::max(gap.time.start, trace.start()[next.launch]), gap.time.end};
  if (part.length() < kHeld) return {};
  // Copies of pageable memory are prepared by the host: that is work of its own.
  if (next.work_class == WorkClass::kCopy) return {};
  const std::uint32_t entry = trace.launches().rows.find(next.launch);
  const auto pieces = entry == base::RowSet::kNone
                          ? Nanos{1}
                          : static_cast<Nanos>(trace.launches().work_of(entry).size());
  return part.length() < kHeld + pieces * kOfGraph ? Interval{} : part;
}

void HeldCalls::find_calls() {
  knows_calls_ = true;
  const trace::Trace& trace = *window_->trace;
  // One that waits for the device holds no other up, unless it gives memory back.
  NameSign waiting(trace, [](std::string_view call) {
    return names_waiting_call(call) && call.find("Free") == std::string_view::npos;
  });
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device) continue;
    for (Row row = track.begin; row < track.end; ++row) {
      if (!trace::is_api_call(trace.kind()[row]) || trace.phase()[row] != trace::Phase::kSpan)
        continue;
      const Interval time{trace.start()[row], trace.end(row)};
      if (2 * time.length() < kHeld) continue;
      if (waiting.matches_row(row)) continue;
      if (trace.launches().rows.find(row) != base::RowSet::kNone) continue;  // held itself
      calls_.push_back({time, row});
    }
  }
  std::ranges::stable_sort(calls_, {}, [](const Call& call) { return call.time.start; });
  Nanos reach = calls_.empty() ? 0 : calls_.front().time.end;
  for (Call& call : calls_) call.reach = reach = std::max(reach, call.time.end);
}

Row HeldCalls::holder(Interval time, Row launch) {
  if (!knows_calls_) find_calls();
  const trace::Trace& trace = *window_->trace;
  const auto after = std::ranges::lower_bound(calls_, time.end, {},
                                              [](const Call& call) { return call.time.start; });
  Row best = trace::kNoRow;
  Nanos most = (time.length() + 1) / 2;
  for (auto at = after; at != calls_.begin() && (at - 1)->reach > time.start; --at) {
    const Call& call = *(at - 1);
    const Nanos both = std::min(call.time.end, time.end) - std::max(call.time.start, time.start);
    if (both < most || trace.track()[call.row] == trace.track()[launch]) continue;
    most = both;
    best = call.row;
  }
  return best;
}

bool HeldCalls::is_first_use(Row launch) {
  const trace::Trace& trace = *window_->trace;
  if (first_use_.empty()) {
    first_use_.resize(trace.strings().size(), trace::kNoRow);
    for (const Work& piece : window_->work) {
      if (piece.launch == trace::kNoRow) continue;
      Row& first = first_use_[trace.name()[piece.row]];
      if (first == trace::kNoRow || trace.start()[piece.launch] < trace.start()[first])
        first = piece.launch;
    }
  }
  const std::uint32_t entry = trace.launches().rows.find(launch);
  if (entry == base::RowSet::kNone) return false;
  return std::ranges::any_of(trace.launches().work_of(entry),
                             [&](Row piece) { return first_use_[trace.name()[piece]] == launch; });
}

}  // namespace stepscope::analysis
