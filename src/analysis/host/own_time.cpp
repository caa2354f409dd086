// Gives every moment of a host thread to the innermost span that is open.
#include "analysis/host/own_time.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// Chosen time before a moment. Lengths are differences of it.
class ChosenTime {
 public:
  explicit ChosenTime(const WindowView& window) : all_(!window.chosen && !window.between) {
    if (all_) return;
    std::vector<Interval> hosts;
    if (window.between) hosts.push_back(*window.between);
    for (const StepTime& step : window.steps) {
      if (step.selected && !window.between) hosts.push_back(step.host);
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

// The open spans of a thread, the innermost last. Those that have ended stay until they are on top.
class OpenSpans {
 public:
  OpenSpans(const trace::Trace& trace, const ChosenTime& chosen, base::Column<Nanos>& own)
      : trace_(trace), chosen_(chosen), own_(own) {}

  // Shares out the time up to the start of the next span, then opens it. Returns what was covered.
  Nanos open(Row row) {
    const Nanos covered = run_to(trace_.start()[row]);
    open_.push_back(row);
    return covered;
  }
  Nanos close() { return run_to(std::numeric_limits<Nanos>::max()); }

 private:
  Nanos run_to(Nanos time) {
    Nanos covered = 0;
    while (!open_.empty() && now_ < time) {
      const Nanos end = std::min(trace_.end(open_.back()), time);
      if (end > now_) {
        const Nanos length = chosen_.before(end) - chosen_.before(now_);
        own_[open_.back()] += length;
        covered += length;
        now_ = end;
      }
      if (trace_.end(open_.back()) <= now_) open_.pop_back();
    }
    if (open_.empty() && time != std::numeric_limits<Nanos>::max()) now_ = std::max(now_, time);
    return covered;
  }

  const trace::Trace& trace_;
  const ChosenTime& chosen_;
  base::Column<Nanos>& own_;
  std::vector<Row> open_;
  Nanos now_ = std::numeric_limits<Nanos>::min();
};

}  // namespace

OwnTime::OwnTime(const WindowView& window) : trace_(window.trace), own_(window.trace->size()) {
  const trace::Trace& trace = *window.trace;
  const ChosenTime chosen(window);
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device) continue;
    OpenSpans spans(trace, chosen, own_);
    for (Row row = track.begin; row < track.end; ++row) {
      if (is_span(trace, row)) covered_ += spans.open(row);
    }
    covered_ += spans.close();
  }
}

}  // namespace stepscope::analysis
