// How many processors a job may use, from the samples of its machine.
#include "advice/job_processors.h"

#include <algorithm>
#include <cmath>

namespace stepscope::advice {
namespace {

constexpr std::string_view kTraining = "training";  // a rank's own process, as `system` names it

std::int64_t ranks_on(const Facts& facts, std::string_view node) {
  std::int64_t ranks = 0;
  for (const Line& line : facts.lines("system", "processes")) {
    if (line.text("node") == node && line.text("processes") == kTraining) ++ranks;
  }
  return std::max<std::int64_t>(1, ranks);
}

// What a rank that was not sampled kept busy would count as another program's: one that was short,
// or that began when sampling had ended.
bool all_seen(const Facts& facts) {
  return std::ranges::all_of(facts.ranks(), [&](const RankSteps& rank) {
    return process_of(facts, rank.rank, true).has_value();
  });
}

// Processors of the machine that the ranks may run on; nothing where one did not say.
std::optional<double> allowed_on(const Facts& facts, std::string_view node) {
  double sum = 0;
  for (const Line& line : facts.lines("system", "processes")) {
    if (line.text("node") != node || line.text("processes") != kTraining) continue;
    if (!line.has_value("usable_cores")) return std::nullopt;
    sum += line.number("usable_cores");
  }
  return sum;
}

// Processors that the job's processes on a machine were ready to use and did not get, on average.
double waited_on(const Facts& facts, std::string_view node) {
  double sum = 0;
  for (const Line& line : facts.lines("system", "processes")) {
    if (line.text("node") != node) continue;
    sum += line.number("waited_share") * std::max(1.0, line.number("most"));
  }
  return sum;
}

}  // namespace

std::int64_t JobProcessors::per_rank() const {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(usable) / ranks);
}

std::int64_t JobProcessors::threads() const {
  return std::max<std::int64_t>(1, per_rank() - started);
}

std::optional<Line> process_of(const Facts& facts, std::int32_t rank, bool training) {
  for (const Line& line : facts.lines("system", "processes", rank)) {
    if ((line.text("processes") == kTraining) == training) return line;
  }
  return std::nullopt;
}

std::optional<JobProcessors> job_processors(const Facts& facts, std::int32_t rank) {
  const auto process = process_of(facts, rank, true);
  if (!process) return std::nullopt;
  const std::string_view node = process->text("node");
  for (const Line& line : facts.lines("system", "machines")) {
    if (line.text("node") != node || line.number("processors") <= 0) continue;
    JobProcessors out{.all = line.number("processors"), .ranks = ranks_on(facts, node)};
    out.usable = allowed_on(facts, node).value_or(out.all);
    if (line.has_value("cpu_limit_cores")) {
      out.usable = std::min(out.usable, line.number("cpu_limit_cores"));
    }
    out.load_known =
        line.has_value("cpu_mean_share") && line.has_value("job_cores") && all_seen(facts);
    if (out.load_known) {
      out.own_cores = line.number("job_cores");
      out.other_cores = std::max(0.0, line.number("cpu_mean_share") * out.all - out.own_cores);
      out.wanted_cores = out.own_cores + waited_on(facts, node);
    }
    if (const auto started = process_of(facts, rank, false)) out.started = started->whole("most");
    out.waited_share = process->number("waited_share");
    return out;
  }
  return std::nullopt;
}

}  // namespace stepscope::advice
