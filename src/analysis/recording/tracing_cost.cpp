// Measures what a profiler's window cost the steps it ran in.
#include "analysis/recording/tracing_cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/arithmetic/durations.h"
#include "analysis/compare/student.h"
#include "analysis/loading/iterations.h"

namespace stepscope::analysis {
namespace {

std::string milliseconds(double ns) {
  const double ms = ns * 1e-6;
  return fmt::format("{:.{}f} ms", ms, std::abs(ms) < 10 ? 2 : std::abs(ms) < 100 ? 1 : 0);
}

}  // namespace

std::optional<TracingCost> tracing_cost(const std::vector<RecordedStep>& steps) {
  std::vector<base::Nanos> lengths;
  std::vector<bool> is_traced;
  for (const RecordedStep& step : steps) {
    lengths.push_back(step.length);
    is_traced.push_back(step.traced);
  }
  const std::size_t cold = warm_up(lengths, is_traced);
  Durations traced;
  Durations others;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].traced) {
      traced.add(steps[i].length);
    } else if (i >= cold) {
      others.add(steps[i].length);
    }
  }
  if (traced.count() < 2 || others.count() < 2) return std::nullopt;
  const auto variance = [](const Durations& of) {
    const double sd = of.standard_deviation();
    return sd * sd / static_cast<double>(of.count());
  };
  const double a = variance(traced);
  const double b = variance(others);
  TracingCost cost{.ns = traced.mean() - others.mean()};
  double half = 0;
  if (a + b > 0) {  // Welch's interval
    const double freedom = (a + b) * (a + b) /
                           (a * a / static_cast<double>(traced.count() - 1) +
                            b * b / static_cast<double>(others.count() - 1));
    half = student_quantile(0.025, std::max(1.0, freedom)) * std::sqrt(a + b);
  }
  cost.low_ns = cost.ns - half;
  cost.high_ns = cost.ns + half;
  return cost;
}

std::string tracing_cost_text(const TracingCost& cost) {
  const std::string interval =
      fmt::format("{} to {}", milliseconds(cost.low_ns), milliseconds(cost.high_ns));
  if (cost.is_measurable()) {
    return fmt::format("Tracing made a step {} longer (95 % interval: {}).", milliseconds(cost.ns),
                       interval);
  }
  return fmt::format(
      "What tracing cost a step is not measurable: the steps differ among themselves by more (95 % "
      "interval: {}).",
      interval);
}

}  // namespace stepscope::analysis
