#include "analysis/stalls/quiet_ranges.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/device/classes.h"
#include "analysis/name_sign.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

// "train.py(12): log"; the framework's own files lie in a folder of its name.
bool is_function(std::string_view frame) { return frame.find(".py(") != std::string_view::npos; }
bool is_of_framework(std::string_view frame) {
  return frame.starts_with("torch/") || frame.find("/torch/") != std::string_view::npos;
}

// Ranges that somebody else has a word for.
bool is_spoken_for(std::string_view range) {
  return trace::names_a_step(range) || range.starts_with("Optimizer.") ||
         names_data_loading(range) || names_communication_call(range);
}

bool is_quiet(const Intervals& recorded, Interval time) {
  const auto next = std::ranges::upper_bound(recorded, time.start, {}, &Interval::end);
  return next == recorded.end() || next->start >= time.end;
}

struct Signs {
  NameSign function, framework, spoken_for;

  explicit Signs(const trace::Trace& trace)
      : function(trace, is_function),
        framework(trace, is_of_framework),
        spoken_for(trace, is_spoken_for) {}
};

// Of the program itself: a function in a file, or a built-in that such a function calls.
bool is_own(const trace::Trace& trace, Row row, Signs& signs) {
  if (trace.kind()[row] == Kind::kAnnotation) return !signs.spoken_for.of(row);
  if (trace.kind()[row] != Kind::kPython || signs.framework.of(row)) return false;
  if (signs.function.of(row)) return true;
  const Row caller = trace.parent()[row];
  return caller != trace::kNoRow && trace.kind()[caller] == Kind::kPython &&
         signs.function.of(caller) && !signs.framework.of(caller);
}

}  // namespace

QuietRanges quiet_ranges(const trace::Trace& trace, const Intervals& recorded) {
  QuietRanges out;
  Signs signs(trace);
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device || track.begin == track.end) continue;
    base::Nanos reach = trace.start()[track.begin];  // the end of the last that was taken
    for (Row row = track.begin; row < track.end; ++row) {
      if (trace.phase()[row] != trace::Phase::kSpan) continue;
      const Interval time{trace.start()[row], trace.end(row)};
      if (time.start < reach) {
        if (trace.kind()[row] == Kind::kPython && signs.framework.of(row)) {
          out.framework.push_back(time);
        }
      } else if (time.end > time.start && is_own(trace, row, signs) && is_quiet(recorded, time)) {
        out.own.push_back(time);
        reach = time.end;
      }
    }
  }
  out.own = sorted_union(std::move(out.own));
  out.framework = sorted_union(std::move(out.framework));
  return out;
}

}  // namespace stepscope::analysis
