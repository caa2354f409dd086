// How often something happens that only some of the recorded steps have.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "advice/host_stall.h"

namespace stepscope::advice {
namespace {

// Those of one rank, as the recording has them.
std::vector<Window> windows_of(const Facts& facts, const RankSteps& rank, std::string_view sort) {
  std::map<std::int64_t, Window> windows;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places;
  for (const Line& line : facts.lines("steps", "steps", rank.rank)) {
    Window& window = windows[line.whole("window")];
    places[{line.whole("window"), line.whole("step")}] = window.steps++;
  }
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    if (line.text("stall") != sort || line.whole("count") == 0) continue;
    const auto place = places.find({line.whole("window"), line.whole("step")});
    if (place != places.end()) windows[line.whole("window")].hit.push_back(place->second);
  }
  std::vector<Window> out;
  for (auto& [number, window] : windows) {
    std::ranges::sort(window.hit);
    out.push_back(std::move(window));
  }
  return out;
}

// From one to the next of the same window.
std::vector<std::int64_t> distances_in(const std::vector<Window>& windows) {
  std::vector<std::int64_t> distances;
  for (const Window& window : windows) {
    for (std::size_t i = 1; i < window.hit.size(); ++i) {
      distances.push_back(window.hit[i] - window.hit[i - 1]);
    }
  }
  return distances;
}

// Whether nothing is missing before the first and after the last, were it every so many steps.
bool fills(const std::vector<Window>& windows, std::int64_t every) {
  return std::ranges::all_of(windows, [&](const Window& window) {
    if (window.hit.empty()) return window.steps < every;
    return window.hit.front() < every && window.steps - window.hit.back() <= every;
  });
}

}  // namespace

Rate rate_of(const std::vector<Window>& windows) {
  double steps = 0;
  double hit = 0;
  for (const Window& window : windows) {
    steps += static_cast<double>(window.steps);
    hit += static_cast<double>(window.hit.size());
  }
  if (hit <= 0 || hit >= steps) return {hit > 0 ? 1.0 : 0.0, 1, true};
  Rate out;
  const std::vector<std::int64_t> distances = distances_in(windows);
  if (!distances.empty()) {
    const auto [shortest, longest] = std::ranges::minmax(distances);
    if (shortest == longest && distances.size() > 1 && fills(windows, shortest)) {
      out.every = shortest;
      out.least = out.most = 1 / static_cast<double>(shortest);
      return out;
    }
    out.regular = longest - shortest <= 1;
  }
  if (out.regular) {
    // Every p steps, h times in n of them: (h − 1) p ≤ n − 1 and (h + 1) p ≥ n + 1.
    const auto apart = static_cast<double>(windows.size());
    out.least = hit > apart ? (hit - apart) / (steps - apart) : 0;
    out.most = std::min(1.0, (hit + apart) / (steps + apart));
    return out;
  }
  constexpr double kSure = 1.96;
  const double square = kSure * kSure / steps;
  const double seen = hit / steps;
  const double half = kSure * std::sqrt(seen * (1 - seen) / steps + square / steps / 4);
  out.least = std::max(0.0, (seen + square / 2 - half) / (1 + square));
  out.most = std::min(1.0, (seen + square / 2 + half) / (1 + square));
  return out;
}

void widen_by_rate(Finding& finding, const Facts& facts, const RankSteps& rank,
                   std::string_view sort) {
  const std::vector<Window> windows = windows_of(facts, rank, sort);
  double steps = 0;
  double hit = 0;
  for (const Window& window : windows) {
    steps += static_cast<double>(window.steps);
    hit += static_cast<double>(window.hit.size());
  }
  if (!finding.gain || hit <= 0 || hit >= steps) return;
  const Rate rate = rate_of(windows);
  if (rate.every > 0) {
    finding.detail.form += " It came {} times in {} recorded steps, every {} steps.";
    finding.detail.figures.insert(
        finding.detail.figures.end(),
        {count(hit), count(steps), count(static_cast<double>(rate.every))});
    // What is known of these steps holds for all.
    if (hit * static_cast<double>(rate.every) == steps) return;
  }
  finding.here = finding.gain;
  const auto times = [&](base::Nanos gain, double share) {
    return static_cast<double>(gain) * share * steps / hit;
  };
  double high = std::min(rank.step_ns, times(finding.here->high, rate.most));
  // Steps that were not traced may say that it is no more than so much.
  if (const auto untraced = facts.untraced(rank)) high = std::min(high, untraced->step_ns);
  const double low = std::min(high, times(finding.here->low, rate.least));
  finding.gain = Gain{static_cast<base::Nanos>(low), static_cast<base::Nanos>(std::ceil(high))};
  if (rate.every > 0) {
    finding.detail.form += " The gain is for a training that goes on so.";
    return;
  }
  finding.detail.form +=
      rate.regular
          ? " It was in {} of {} recorded steps, so how often it comes is uncertain: in {} to {} "
            "of the steps of a long training if at regular distances. The gain is for that; "
            "record more steps for a narrower range."
          : " It was in {} of {} recorded steps, at no regular distance, so how often it comes is "
            "uncertain: in {} to {} of the steps of a long training (95 % interval). The gain is "
            "for that; record more steps for a narrower range.";
  for (const Figure& figure : {count(hit), count(steps), share(rate.least), share(rate.most)}) {
    finding.detail.figures.push_back(figure);
  }
}

}  // namespace stepscope::advice
