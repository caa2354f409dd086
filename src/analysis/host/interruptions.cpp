// Finds operators that take a hundred times as long as their like, at a place that differs from
// step to step: a scheduler's doing, and not the program's.
#include "analysis/host/interruptions.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// A scheduler takes a processor away for a slice of some milliseconds.
constexpr Nanos kSlice = 1'000'000;
// An operator that is short and of which there are several; at most a tenth of them may be long.
constexpr Nanos kShortCall = 200'000;
constexpr std::uint32_t kSeveral = 8, kOneIn = 10;

struct NameOfCalls {
  std::uint32_t calls = 0, slow = 0;
  Nanos brief = 0;  // of those that are not long, together
  bool is_short() const {
    const std::uint32_t others = calls - slow;
    return calls >= kSeveral && slow * kOneIn <= calls && others > 0 &&
           brief <= static_cast<Nanos>(others) * kShortCall;
  }
};

struct LongCall {
  std::uint32_t track;
  base::StringId name;
  std::uint32_t place;  // among those of its name in its step
  std::uint32_t step;
  Nanos own;
};

// Without what it called: operators, the runtime, Python.
Nanos own_of(const trace::Trace& trace, Row row, Row end) {
  Nanos own = trace.duration()[row];
  for (Row inside = row + 1; inside < end && trace.start()[inside] < trace.end(row); ++inside) {
    if (trace.parent()[inside] == row && trace.phase()[inside] == trace::Phase::kSpan) {
      own -= std::min(trace.end(inside), trace.end(row)) - trace.start()[inside];
    }
  }
  return own;
}

bool is_call(const trace::Trace& trace, Row row) {
  return trace.kind()[row] == trace::Kind::kCpuOp && trace.phase()[row] == trace::Phase::kSpan &&
         trace.name()[row] != base::kNoString &&
         (trace.flags()[row] & (trace::kFarTime | trace::kBadDuration | trace::kUnclosed)) == 0;
}

std::vector<LongCall> long_calls(const WindowView& window, std::vector<NameOfCalls>& names) {
  const trace::Trace& trace = *window.trace;
  std::vector<LongCall> out;
  std::vector<std::uint32_t> place(names.size());  // by name, in the step of the last
  std::vector<std::uint64_t> last(names.size());   // which step that was, of which thread
  std::uint64_t stamp = 0;
  for (std::uint32_t t = 0; t < trace.tracks().size(); ++t) {
    const trace::Track& track = trace.tracks()[t];
    if (track.is_device) continue;
    std::size_t step = 0;
    ++stamp;
    for (Row row = track.begin; row < track.end; ++row) {
      if (!is_call(trace, row)) continue;
      const Nanos start = trace.start()[row];
      while (step < window.steps.size() && window.steps[step].host.end <= start) {
        ++step;
        ++stamp;
      }
      if (step == window.steps.size()) break;
      if (start < window.steps[step].host.start || !window.steps[step].selected) continue;
      const base::StringId name = trace.name()[row];
      NameOfCalls& sums = names[name];
      if (last[name] != stamp) {
        last[name] = stamp;
        place[name] = 0;
      }
      ++place[name];
      ++sums.calls;
      const Nanos length = trace.duration()[row];
      if (length < kSlice) {
        sums.brief += length;
        continue;
      }
      ++sums.slow;
      const Nanos own = own_of(trace, row, track.end);
      if (own >= kSlice) {
        out.push_back({t, name, place[name], static_cast<std::uint32_t>(step), own});
      }
    }
  }
  return out;
}

}  // namespace

void Interruptions::merge(const Interruptions& other) {
  if (other.longest > longest) example = other.example;
  steps += other.steps;
  in_steps += other.in_steps;
  times += other.times;
  names = std::max(names, other.names);
  sum += other.sum;
  longest = std::max(longest, other.longest);
  all += other.all;
}

Interruptions interruptions(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  Interruptions out;
  if (!window.has_steps) return out;  // the beginning of a program is full of what comes once
  for (const StepTime& step : window.steps) {
    if (!step.selected) continue;
    ++out.steps;
    out.all += step.host.length();
  }
  std::vector<NameOfCalls> names(trace.strings().size());
  const std::vector<LongCall> found = long_calls(window, names);
  // The same call that is long in several steps has a reason of its own.
  std::map<std::tuple<std::uint32_t, base::StringId, std::uint32_t>, std::uint32_t> again;
  for (const LongCall& one : found) ++again[{one.track, one.name, one.place}];
  std::set<std::uint32_t> steps;
  std::set<base::StringId> different;
  for (const LongCall& one : found) {
    if (!names[one.name].is_short() || again[{one.track, one.name, one.place}] > 1) continue;
    ++out.times;
    out.sum += one.own;
    steps.insert(one.step);
    different.insert(one.name);
    if (one.own <= out.longest) continue;
    out.longest = one.own;
    out.example = trace.text(one.name);
  }
  out.in_steps = steps.size();
  out.names = different.size();
  return out;
}

}  // namespace stepscope::analysis
