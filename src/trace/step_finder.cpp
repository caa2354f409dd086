// Finds the steps of a trace by what its events are called.
#include "trace/step_finder.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "trace/step_names.h"

namespace stepscope::trace {
namespace {

constexpr std::string_view kLightningBatch = "run_training_batch";

bool can_be_step(Kind kind) {
  return kind == Kind::kAnnotation || kind == Kind::kCpuOp || kind == Kind::kPython ||
         kind == Kind::kOther;
}

// Which texts are wanted, by their ids; nothing if none is.
std::vector<bool> texts_wanted(const Trace& trace,
                               const std::function<bool(std::string_view)>& wanted) {
  std::vector<bool> is_wanted(trace.strings().size());
  bool any = false;
  for (base::StringId id = 0; id < is_wanted.size(); ++id) {
    is_wanted[id] = wanted(trace.text(id));
    any |= is_wanted[id];
  }
  return any ? is_wanted : std::vector<bool>{};
}

// The same of names that match. A pattern is slow: only names that can be a step's are looked at.
std::vector<bool> names_matching(const Trace& trace, const StepPattern& pattern) {
  std::vector<bool> is_asked(trace.strings().size());
  std::vector<bool> is_wanted(is_asked.size());
  for (Row row = 0; row < trace.size(); ++row) {
    const base::StringId name = trace.name()[row];
    if (name == base::kNoString || is_asked[name] || !can_be_step(trace.kind()[row])) continue;
    is_asked[name] = true;
    is_wanted[name] = pattern.matches(trace.text(name));
  }
  return is_wanted;
}

// Spans on the host whose name is wanted, outermost ones only, by start.
std::vector<Step> spans_named(const Trace& trace, const std::vector<bool>& is_wanted) {
  std::vector<Step> found;
  if (is_wanted.empty()) return found;
  for (const Track& track : trace.tracks()) {
    if (track.is_device) continue;
    base::Nanos covered = std::numeric_limits<base::Nanos>::min();
    for (Row row = track.begin; row < track.end; ++row) {
      const base::StringId name = trace.name()[row];
      if (name == base::kNoString || !is_wanted[name]) continue;
      if (trace.phase()[row] != Phase::kSpan || !can_be_step(trace.kind()[row])) continue;
      if ((trace.flags()[row] & kBadDuration) != 0) continue;  // how long it took is not known
      if (trace.start()[row] < covered) continue;
      covered = trace.end(row);
      const auto number = trailing_number(trace.text(name));
      found.push_back({number.value_or(-1), row, trace.start()[row], trace.end(row)});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Step& a, const Step& b) { return a.start < b.start; });
  return found;
}

void number_in_order(std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].number = static_cast<std::int64_t>(i);
}

// The same step can be marked on more than one thread: the first mark stands.
void keep_first_of_each(std::vector<Step>& steps) {
  std::map<std::int64_t, bool> seen;
  std::erase_if(steps, [&](const Step& step) { return !seen.emplace(step.number, true).second; });
}

}  // namespace

std::string_view name_of(StepSource source) {
  switch (source) {
    case StepSource::kProfilerStep:
      return "profiler_step";
    case StepSource::kPattern:
      return "pattern";
    case StepSource::kLightning:
      return "lightning";
    case StepSource::kRepetition:
      return "repetition";
    default:
      return "whole";
  }
}

std::optional<Steps> named_steps(const Trace& trace, const StepPattern& pattern) {
  if (pattern.is_given()) {
    std::vector<Step> list = spans_named(trace, names_matching(trace, pattern));
    const bool numbered =
        std::all_of(list.begin(), list.end(), [](const Step& step) { return step.number >= 0; });
    if (!numbered) number_in_order(list);
    if (!list.empty()) return Steps{StepSource::kPattern, std::move(list)};
  }
  std::vector<Step> list = spans_named(trace, texts_wanted(trace, names_a_step));
  keep_first_of_each(list);
  if (const auto cut = trace.header().cut_step; cut && !list.empty()) {
    std::erase_if(list, [&](const Step& step) { return step.number == *cut; });
    // Steps are marked here, and none of them is whole: nothing else stands for them.
    if (list.empty()) return Steps{StepSource::kProfilerStep, {}};
  }
  if (!list.empty()) return Steps{StepSource::kProfilerStep, std::move(list)};

  list = spans_named(trace, texts_wanted(trace, [](std::string_view name) {
                       return name.find(kLightningBatch) != std::string_view::npos;
                     }));
  number_in_order(list);
  if (list.empty()) return std::nullopt;
  return Steps{StepSource::kLightning, std::move(list)};
}

Steps unnamed_steps(const Trace& trace) {
  std::vector<Step> list = repeating_steps(trace);
  if (!list.empty()) return {StepSource::kRepetition, std::move(list)};

  if (trace.size() == 0) return {};
  return {StepSource::kWhole, {{0, kNoRow, trace.span().start, trace.span().end}}};
}

double share_left_out(const Trace& trace) {
  const base::Nanos all = trace.span().length();
  if (all <= 0) return 0;
  base::Nanos inside = 0;
  for (const Step& step : trace.steps().list) inside += step.end - step.start;
  return std::max(0.0, 1 - static_cast<double>(inside) / static_cast<double>(all));
}

}  // namespace stepscope::trace
