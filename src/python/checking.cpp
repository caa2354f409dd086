// `check` over step times that Python holds.
#include <cmath>

#include "python/recording.h"
#include "report/compare/compare.h"
#include "session/compare/compare.h"
#include "session/user_files/user_files.h"

namespace stepscope::python {
namespace {

std::vector<analysis::RunSamples> samples_of(const std::vector<std::vector<double>>& runs,
                                             const std::string& name) {
  constexpr double kSecond = 1e9;
  std::vector<analysis::RunSamples> out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<double> steps;
    for (const double step : runs[i]) {
      if (!std::isfinite(step) || step <= 0) {
        throw Failed({base::Code::kInvalidArgument, name + ": a step takes longer than 0"});
      }
      steps.push_back(step * kSecond);
    }
    out.push_back(session::samples_of_steps(name + " " + std::to_string(i), steps));
  }
  return out;
}

}  // namespace

std::string check_steps(const std::vector<std::vector<double>>& runs,
                        const std::vector<std::vector<double>>& baseline,
                        const std::string& rules) {
  const analysis::GateRules limits =
      rules.empty() ? analysis::standard_rules() : value_or_throw(session::read_gate_rules(rules));
  report::GateReport report;
  report.before = samples_of(baseline, "baseline");
  report.after = samples_of(runs, "run");
  report.rules = limits;
  report.judged = analysis::judge(limits, report.before, report.after);
  return report::gate_json(report);
}

}  // namespace stepscope::python
