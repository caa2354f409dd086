#include "analysis/stalls/profiler_overhead.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Kind;
using trace::Row;

bool is_noted(const trace::Trace& trace, Row row) {
  const Kind kind = trace.kind()[row];
  return trace.phase()[row] == trace::Phase::kSpan &&
         (kind == Kind::kCpuOp || kind == Kind::kPython || trace::is_api_call(kind));
}

// Threads of the host that launch work, in order of their rows.
std::vector<const trace::Track*> launching_tracks(const WindowView& window) {
  std::vector<const trace::Track*> hosts;
  for (const trace::Track& track : window.trace->tracks()) {
    if (!track.is_device && track.begin < track.end) hosts.push_back(&track);
  }
  std::ranges::sort(hosts, {}, [](const trace::Track* track) { return track->begin; });
  std::set<const trace::Track*> launching;
  for (const Work& piece : window.work) {
    if (piece.launch == trace::kNoRow) continue;
    const auto after = std::ranges::upper_bound(
        hosts, piece.launch, {}, [](const trace::Track* track) { return track->begin; });
    if (after != hosts.begin()) launching.insert(*std::prev(after));
  }
  std::erase_if(hosts, [&](const trace::Track* track) { return !launching.contains(track); });
  return hosts;
}

// Calls that launch kernels, by row.
std::vector<Row> kernel_launches(const WindowView& window) {
  std::vector<Row> out;
  for (const Work& piece : window.work) {
    const bool is_kernel =
        piece.work_class == WorkClass::kCompute || piece.work_class == WorkClass::kCommunication;
    if (is_kernel && piece.launch != trace::kNoRow) out.push_back(piece.launch);
  }
  std::ranges::sort(out);
  return out;
}

// The one operator that this one calls, with nothing else recorded inside; kNoRow: there is more,
// or nothing. Rows of a thread are in order of time, callers before what they call.
Row only_callee(const trace::Trace& trace, Row row) {
  const Row callee = row + 1;
  const auto rows = static_cast<Row>(trace.kind().size());
  if (callee >= rows || trace.kind()[callee] != Kind::kCpuOp || trace.parent()[callee] != row) {
    return trace::kNoRow;
  }
  // What comes behind the callee and lies in it is the callee's; the next is the caller's or later.
  Row next = callee + 1;
  while (next < rows && trace.start()[next] >= trace.start()[callee] &&
         trace.start()[next] < trace.end(callee)) {
    ++next;
  }
  const bool has_more = next < rows && trace.parent()[next] == row;
  return has_more ? trace::kNoRow : callee;
}

}  // namespace

void for_each_recorded_call(const WindowView& window,
                            const std::function<void(Row, OverheadKind)>& tell) {
  const trace::Trace& trace = *window.trace;
  const std::vector<Row> launches = kernel_launches(window);
  for (const trace::Track* track : launching_tracks(window)) {
    auto launch = std::ranges::lower_bound(launches, track->begin);
    for (Row row = track->begin; row < track->end; ++row) {
      if (!is_noted(trace, row)) continue;
      while (launch != launches.end() && *launch < row) ++launch;
      const Kind kind = trace.kind()[row];
      const bool is_launch = launch != launches.end() && *launch == row;
      tell(row, kind == Kind::kCpuOp    ? OverheadKind::kOperator
                : kind == Kind::kPython ? OverheadKind::kFunction
                : is_launch             ? OverheadKind::kLaunch
                                        : OverheadKind::kCall);
    }
  }
}

OverheadCounts overhead_counts_in(const WindowView& window, Interval time) {
  OverheadCounts out{};
  for_each_recorded_call(window, [&](Row row, OverheadKind sort) {
    const Nanos start = window.trace->start()[row];
    if (start >= time.start && start < time.end) ++out[static_cast<std::size_t>(sort)];
  });
  return out;
}

void OverheadSums::merge(const OverheadSums& other) {
  for (std::size_t i = 0; i < kOverheadKinds; ++i) counts[i] += other.counts[i];
  wrappers.insert(wrappers.end(), other.wrappers.begin(), other.wrappers.end());
}

Nanos OverheadSums::wrapper_ns() const {
  constexpr std::size_t kEnough = 20;
  if (wrappers.size() < kEnough) return 0;
  std::vector<Nanos> sorted = wrappers;
  const auto quartile = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 4);
  std::ranges::nth_element(sorted, quartile);
  return *quartile;
}

OverheadSums overhead_sums(const WindowView& window) {
  OverheadSums out;
  const trace::Trace& trace = *window.trace;
  for_each_recorded_call(window, [&](Row row, OverheadKind sort) {
    const Nanos start = trace.start()[row];
    if (!window.counts_at(start) || step_at(window.steps, start) < 0) return;
    ++out.counts[static_cast<std::size_t>(sort)];
    if (sort != OverheadKind::kOperator) return;
    const Row callee = only_callee(trace, row);
    if (callee == trace::kNoRow) return;
    out.wrappers.push_back(trace.end(row) - start - (trace.end(callee) - trace.start()[callee]));
  });
  return out;
}

}  // namespace stepscope::analysis
