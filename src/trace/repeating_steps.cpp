// Guesses steps from a sequence of kernels that repeats, where nothing marks them.
#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "trace/step_finder.h"

namespace stepscope::trace {
namespace {

// Three rounds are the fewest that show a rhythm; nearly every kernel must agree, because a stack
// of equal layers repeats almost as well as a step does.
constexpr std::size_t kFewestRepeats = 3;
constexpr double kAgreement = 0.98;
// Of the stream's work, its number and its time: the rest may be warm-up and the round that is not
// whole.
constexpr double kCovered = 0.5;
// Kernels tried as the one that begins a round, the rarest first: those of a warm-up are rare too.
constexpr std::size_t kMostTried = 16;

using Places = std::vector<std::size_t>;  // of one kernel in the stream's work

// Its work; none where it does less than half of its device's: what several streams do at once has
// no rhythm in common.
std::vector<Row> busiest_stream(const Trace& trace) {
  std::vector<Row> best;
  std::int32_t best_device = -1;
  std::map<std::int32_t, std::size_t> of_devices;
  for (const Track& track : trace.tracks()) {
    if (!track.is_device) continue;
    std::vector<Row> work;
    for (Row row = track.begin; row < track.end; ++row) {
      if (is_device_work(trace.kind()[row])) work.push_back(row);
    }
    of_devices[track.device] += work.size();
    if (work.size() <= best.size()) continue;
    best = std::move(work);
    best_device = track.device;
  }
  if (2 * best.size() < of_devices[best_device]) best.clear();
  return best;
}

// Those that come back, the rarest first; of equally rare ones the first in the stream.
std::vector<Places> candidates(const Trace& trace, const std::vector<Row>& work) {
  std::unordered_map<base::StringId, std::size_t> index;
  std::vector<Places> found;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto [entry, is_new] = index.try_emplace(trace.name()[work[i]], found.size());
    if (is_new) found.emplace_back();
    found[entry->second].push_back(i);
  }
  std::erase_if(found, [](const Places& at) { return at.size() < kFewestRepeats; });
  std::stable_sort(found.begin(), found.end(),
                   [](const Places& a, const Places& b) { return a.size() < b.size(); });
  if (found.size() > kMostTried) found.resize(kMostTried);
  return found;
}

bool is_rhythm(const Trace& trace, const std::vector<Row>& work, const Places& at) {
  const std::size_t period = at[1] - at[0];
  const auto covered = static_cast<double>(at.back() - at.front());
  if (covered < kCovered * static_cast<double>(work.size())) return false;
  base::Nanos in_rounds = 0;
  base::Nanos in_all = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    in_all += trace.duration()[work[i]];
    if (i >= at.front() && i < at.back()) in_rounds += trace.duration()[work[i]];
  }
  if (static_cast<double>(in_rounds) < kCovered * static_cast<double>(in_all)) return false;
  std::size_t agreeing = 0;
  std::size_t compared = 0;
  for (std::size_t i = at.front(); i + period < work.size(); ++i) {
    ++compared;
    agreeing += trace.name()[work[i]] == trace.name()[work[i + period]] ? 1 : 0;
  }
  return compared >= period &&
         static_cast<double>(agreeing) >= kAgreement * static_cast<double>(compared);
}

// The host's call, or kNoRow where none is known.
Row launch_of(const Trace& trace, Row work) {
  const std::uint32_t entry = trace.device().rows.find(work);
  return entry == base::RowSet::kNone ? kNoRow : trace.device().launch[entry];
}

// Where rounds begin, rising; empty where the launches are not in the order of the work. What was
// launched before the recording began has no launch in it: those rounds are left out.
struct Begins {
  std::vector<base::Nanos> times;
  StepClock clock;
};
Begins begins(const Trace& trace, const std::vector<Row>& work, const Places& at) {
  std::vector<base::Nanos> by_launch;
  std::vector<base::Nanos> by_work;
  bool has_hole = false;
  for (const std::size_t place : at) {
    by_work.push_back(trace.start()[work[place]]);
    if (const Row launch = launch_of(trace, work[place]); launch != kNoRow) {
      by_launch.push_back(trace.start()[launch]);
    } else {
      has_hole = has_hole || !by_launch.empty();
    }
  }
  const bool known = by_launch.size() >= kFewestRepeats && !has_hole;
  Begins out{known ? std::move(by_launch) : std::move(by_work),
             known ? StepClock::kHost : StepClock::kDevice};
  const auto not_rising = std::greater_equal<>();
  if (std::adjacent_find(out.times.begin(), out.times.end(), not_rising) != out.times.end()) {
    out.times.clear();
  }
  return out;
}

}  // namespace

std::vector<Step> repeating_steps(const Trace& trace) {
  const std::vector<Row> work = busiest_stream(trace);
  for (const Places& at : candidates(trace, work)) {
    if (!is_rhythm(trace, work, at)) continue;
    const auto [times, clock] = begins(trace, work, at);
    std::vector<Step> steps;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      steps.push_back({static_cast<std::int64_t>(i), kNoRow, times[i], times[i + 1]});
    }
    if (steps.empty()) continue;
    // What holds several of these holds as many of any that come more often.
    return are_contradicted(trace, steps, clock) ? std::vector<Step>() : steps;
  }
  return {};
}

}  // namespace stepscope::trace
