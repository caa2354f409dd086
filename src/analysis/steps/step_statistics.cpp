#include "analysis/steps/step_statistics.h"

#include <algorithm>
#include <cmath>

namespace stepscope::analysis {
namespace {

using base::Nanos;

// Of fewer nobody can say what is usual; as many as the rule about them wants
// (outlier-steps.steps).
constexpr std::size_t kFewestForOutliers = 6;

Nanos length(const RankSteps::One& one) { return one.step.step.span.length(); }

}  // namespace

Durations RankSteps::durations() const {
  Durations out;
  for (const One& one : steps) out.add(length(one));
  return out;
}

Parts RankSteps::sum() const {
  Parts sum{};
  for (const One& one : steps) {
    for (std::size_t i = 0; i < kPartCount; ++i) sum[i] += one.step.parts[i];
  }
  return sum;
}

std::optional<double> RankSteps::per_second() const {
  if (stretch <= 0) return std::nullopt;
  return static_cast<double>(steps.size()) * 1e9 / static_cast<double>(stretch);
}

std::vector<RankSteps> steps_by_rank(const RunView& view, Definition definition) {
  const auto partials = per_window<WindowParts>(view, [&](const WindowView& window) {
    return definition == Definition::kOurs ? step_parts(window) : tensorboard_step_parts(window);
  });
  std::vector<RankSteps> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    if (ranks.empty() || ranks.back().rank != window.rank) {
      ranks.emplace_back().rank = window.rank;
    }
    RankSteps& rank = ranks.back();
    for (const StepParts& step : partials[w].steps) rank.steps.push_back({window.window, step});
    rank.stretch += partials[w].stretch;
  }
  return ranks;
}

std::vector<Outlier> outliers(const RankSteps& rank, const OutlierRule& rule) {
  std::vector<Outlier> out;
  if (rank.steps.size() < kFewestForOutliers) return out;
  Durations lengths = rank.durations();
  const Nanos median = lengths.median();
  Durations distances;
  for (const RankSteps::One& one : rank.steps) distances.add(std::abs(length(one) - median));
  const Nanos enough =
      std::max(rule.deviations * distances.median(),
               static_cast<Nanos>(std::ceil(rule.share * static_cast<double>(median))));

  Parts usual{};
  for (std::size_t part = 0; part < kPartCount; ++part) {
    Durations values;
    for (const RankSteps::One& one : rank.steps) values.add(one.step.parts[part]);
    usual[part] = values.median();
  }
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    if (length(rank.steps[i]) - median <= enough) continue;
    Outlier outlier{.index = i, .median = median};
    for (std::size_t part = 0; part < kPartCount; ++part) {
      const Nanos grown_by = rank.steps[i].step.parts[part] - usual[part];
      if (grown_by <= outlier.grown_by) continue;
      outlier.grown = part;
      outlier.grown_by = grown_by;
    }
    out.push_back(outlier);
  }
  std::ranges::stable_sort(out, [&](const Outlier& a, const Outlier& b) {
    return length(rank.steps[a.index]) > length(rank.steps[b.index]);
  });
  return out;
}

}  // namespace stepscope::analysis
