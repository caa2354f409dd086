// Lists every step of a run from what its processes recorded.
#include "analysis/recording/recorded_steps.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/recording/range_tree.h"
#include "base/ascii.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

// When the profiler of a rank was recording, on the wall clock.
Intervals traced_times(const RunView& view, std::int32_t rank) {
  std::vector<Interval> spans;
  for (const WindowView& window : view.windows) {
    const trace::Trace& trace = *window.trace;
    if (window.rank != rank || trace.is_recording() || !trace.clock().base_known) continue;
    const Nanos zero = trace.clock().zero_unix_ns();
    spans.push_back({trace.span().start + zero, trace.span().end + zero});
  }
  return sorted_union(std::move(spans));
}

}  // namespace

Intervals RecordedStep::own_time() const {
  const Interval all = span();
  return aside.empty() ? Intervals{all} : subtract(std::span(&all, 1), aside);
}

bool RecordedStep::is_aside(Nanos time) const {
  return std::ranges::any_of(
      aside, [&](const Interval& one) { return one.start < time && time <= one.end; });
}

Nanos recording_start(const RunView& view) {
  Nanos start = std::numeric_limits<Nanos>::max();
  for (const WindowView& recording : view.recordings) {
    start = std::min(start, recording.trace->clock().zero_unix_ns());
  }
  return view.recordings.empty() ? 0 : start;
}

std::map<std::int32_t, std::vector<RecordedStep>> recorded_steps(const RunView& view) {
  const Nanos zero = recording_start(view);
  std::map<std::int32_t, std::vector<RecordedStep>> ranks;
  for (const WindowView& recording : view.recordings) {
    if (!recording.has_steps || recording.trace->header().process_record->is_worker) continue;
    const Coverage traced(traced_times(view, recording.rank));
    const Nanos shift = recording.trace->clock().zero_unix_ns();
    const Intervals declared = set_aside(recording);
    auto next = declared.begin();
    for (const StepTime& step : recording.steps) {
      if (!step.selected) continue;
      const Interval wall{step.host.start + shift, step.host.end + shift};
      Intervals aside;
      while (next != declared.end() && next->end <= step.host.start) ++next;
      for (auto one = next; one != declared.end() && one->start < step.host.end; ++one) {
        aside.push_back({std::max(one->start, step.host.start) + shift - zero,
                         std::min(one->end, step.host.end) + shift - zero});
      }
      ranks[recording.rank].push_back({.number = step.number,
                                       .start = wall.start - zero,
                                       .length = step.host.length() - total(aside),
                                       .traced = traced.covered(wall) > 0,
                                       .aside = std::move(aside)});
    }
  }
  return ranks;
}

std::map<std::int32_t, Durations> recorded_saves(const RunView& view) {
  std::map<std::int32_t, Durations> ranks;
  for (const WindowView& recording : view.recordings) {
    if (!recording.has_steps || recording.trace->header().process_record->is_worker) continue;
    for (const Interval& save : saves_of(recording)) ranks[recording.rank].add(save.length());
  }
  return ranks;
}

bool is_of_program(const RunView& view) {
  const std::pair<std::string, std::string> by_command("recorded_by", "\"command\"");
  return !view.recordings.empty() &&
         std::ranges::all_of(view.recordings, [&](const WindowView& recording) {
           return std::ranges::count(recording.trace->header().metadata, by_command) > 0;
         });
}

namespace {

using base::Nanos;
using trace::Row;

// What the name of a record means here.
enum class Mark : std::uint8_t { kUnknown, kNone, kRange, kSave, kAsks, kEnds };

Mark mark_of(std::string_view name) {
  if (!phase_of_range(name).empty()) return Mark::kRange;
  if (is_save_range(name)) return Mark::kSave;
  const std::size_t sign = name.find('#');
  if (sign == std::string_view::npos) return Mark::kNone;
  const std::string_view phase = told_phase(name.substr(sign + 1));
  if (phase.empty() || phase == kTraining) return Mark::kNone;
  const std::string_view what = name.substr(0, sign);
  if (what == "begin loading" || what == "wait for data") return Mark::kAsks;
  return what == "loader ends" ? Mark::kEnds : Mark::kNone;
}

class PhasesStretches {
 public:
  PhasesStretches(const WindowView& recording, bool only_saves)
      : recording_(recording),
        only_saves_(only_saves),
        trace_(*recording.trace),
        marks_(trace_.strings().size(), Mark::kUnknown) {}

  Intervals run() {
    for (const trace::Track& track : trace_.tracks()) {
      if (site_of_track(track, *trace_.header().process_record) != RangeSite::kMainThread) continue;
      for (Row row = track.begin; row < track.end; ++row) take(row);
      for (const auto& [loader, asked] : open_) add(asked);
      open_.clear();
    }
    return sorted_union(std::move(found_));
  }

 private:
  Mark mark(Row row) {
    const base::StringId name = trace_.name()[row];
    if (name == base::kNoString) return Mark::kNone;
    if (marks_[name] == Mark::kUnknown) marks_[name] = mark_of(trace_.text(name));
    return marks_[name];
  }

  void take(Row row) {
    const Mark what = mark(row);
    if (only_saves_ && what != Mark::kSave) return;
    if (what == Mark::kNone || (trace_.flags()[row] & trace::kFarTime) != 0) return;
    const bool is_span = trace_.phase()[row] == trace::Phase::kSpan;
    if (is_span && (trace_.flags()[row] & trace::kBadDuration) != 0) return;
    const Interval own{trace_.start()[row], trace_.end(row)};
    if ((what == Mark::kRange || what == Mark::kSave) && is_span) add(own);
    if (what == Mark::kAsks && is_span) {
      const std::string_view loader = loader_of(row);
      end(loader, own.start);
      open_.emplace(loader, own);
    }
    if (what == Mark::kEnds && trace_.phase()[row] == trace::Phase::kInstant) {
      end(loader_of(row), own.start);
    }
  }

  std::string_view loader_of(Row row) const {
    const std::string_view name = trace_.name_text(row);
    return name.substr(name.find('#') + 1);
  }

  void end(std::string_view loader, Nanos time) {
    const auto asked = open_.find(loader);
    if (asked == open_.end()) return;
    add({asked->second.start, std::max(asked->second.end, time)});
    open_.erase(asked);
  }

  void add(Interval stretch) {
    if (recording_.has_steps) {
      const auto next = std::ranges::upper_bound(
          recording_.steps, stretch.start, {}, [](const StepTime& step) { return step.host.end; });
      if (next != recording_.steps.end() && next->host.end < stretch.end) return;
    }
    found_.push_back(stretch);
  }

  const WindowView& recording_;
  bool only_saves_;
  const trace::Trace& trace_;
  std::vector<Mark> marks_;                    // by name
  std::map<std::string_view, Interval> open_;  // by loader: what it was asked last
  std::vector<Interval> found_;
};

}  // namespace

std::string_view told_phase(std::string_view loader) {
  const std::size_t open = loader.rfind(" (");
  if (open == std::string_view::npos || !loader.ends_with(')')) return {};
  return loader.substr(open + 2, loader.size() - open - 3);
}

std::string_view phase_of_range(std::string_view name) {
  constexpr std::array<std::string_view, 6> kValidation = {"validation", "validate", "val",
                                                           "eval",       "evaluate", "evaluation"};
  const std::string lower = base::lowered(name);
  const auto is = [&](std::string_view word) { return lower == word; };
  if (std::ranges::any_of(kValidation, is)) return "validation";
  if (is("test") || is("testing")) return "test";
  return {};
}

bool is_save_range(std::string_view name) {
  constexpr std::array<std::string_view, 4> kSaves = {"save_checkpoint", "save checkpoint",
                                                      "saving_checkpoint", "saving checkpoint"};
  return std::ranges::find(kSaves, base::lowered(name)) != kSaves.end();
}

Intervals set_aside(const WindowView& recording) { return PhasesStretches(recording, false).run(); }

Intervals saves_of(const WindowView& recording) { return PhasesStretches(recording, true).run(); }

}  // namespace stepscope::analysis
