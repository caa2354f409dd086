#include "analysis/own_time.h"

#include <algorithm>
#include <limits>

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// Chosen time before a moment. Lengths are differences of it.
class ChosenTime {
 public:
  explicit ChosenTime(const WindowView& window) : all_(!window.chosen) {
    if (all_) return;
    std::vector<Interval> hosts;
    for (const StepTime& step : window.steps) {
      if (step.selected) hosts.push_back(step.host);
    }
    set_ = sorted_union(std::move(hosts));
    Nanos sum = 0;
    for (const Interval& one : set_) {
      before_.push_back(sum);
      sum += one.length();
    }
  }

  Nanos before(Nanos time) const {
    if (all_) return time;
    const auto after = std::ranges::upper_bound(set_, time, {}, &Interval::start);
    if (after == set_.begin()) return 0;
    const auto at = static_cast<std::size_t>(after - set_.begin()) - 1;
    return before_[at] + std::min(time, set_[at].end) - set_[at].start;
  }

 private:
  bool all_;
  Intervals set_;
  std::vector<Nanos> before_;  // by interval: the lengths of those ahead of it
};

// What is left of a span: callees come in order of start and each takes a piece off the front.
struct Rest {
  Nanos from = std::numeric_limits<Nanos>::min();
  Nanos end = std::numeric_limits<Nanos>::max();

  Interval take(Nanos start, Nanos stop) {
    const Nanos first = std::min(std::max(start, from), end);
    const Nanos last = std::max(first, std::min(stop, end));
    from = last;
    return {first, last};
  }
};

}  // namespace

bool OwnTime::is_span(const trace::Trace& trace, Row row) {
  const trace::Kind kind = trace.kind()[row];
  return trace.phase()[row] == trace::Phase::kSpan && kind != trace::Kind::kOverhead &&
         kind != trace::Kind::kProfiler && (trace.flags()[row] & trace::kFarTime) == 0;
}

OwnTime::OwnTime(const WindowView& window)
    : parent_(window.trace->size(), trace::kNoRow), own_(window.trace->size()) {
  const trace::Trace& trace = *window.trace;
  const ChosenTime chosen(window);
  std::vector<Rest> rest(trace.size());
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device) continue;
    Rest outermost;
    for (Row row = track.begin; row < track.end; ++row) {
      Row parent = trace.parent()[row];
      while (parent != trace::kNoRow && !is_span(trace, parent)) parent = trace.parent()[parent];
      parent_[row] = parent;
      if (!is_span(trace, row)) continue;
      Rest& above = parent == trace::kNoRow ? outermost : rest[parent];
      const Interval kept = above.take(trace.start()[row], trace.end(row));
      rest[row] = {kept.start, kept.end};
      const Nanos length = chosen.before(kept.end) - chosen.before(kept.start);
      own_[row] += length;
      (parent == trace::kNoRow ? covered_ : own_[parent]) +=
          parent == trace::kNoRow ? length : -length;
    }
  }
}

}  // namespace stepscope::analysis
