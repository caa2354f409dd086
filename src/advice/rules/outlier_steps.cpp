// A few steps take much longer than the others, for a reason that no other rule names.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "analysis/compare/series.h"

namespace stepscope::advice {
namespace {

constexpr std::array kOutlierStepsNeeds = std::to_array<Need>({{"steps", "times"}});

// What the outliers are longer than usual, spread over all steps. Pauses, checkpoints and the
// garbage collector have rules of their own.
double excess_of(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("steps", "outliers", rank.rank)) {
    sum += line.number("excess_ns") / static_cast<double>(rank.steps);
  }
  for (const std::string_view named :
       {"save", "pause", "collector", "compile", "inspect", "data", "update"}) {
    const StallPerStep stall = facts.stall(rank, named);
    sum -= stall.idle_ns + stall.copy_ns;
  }
  return std::max(0.0, sum);
}

// One that is none of the slow ones: the last, since the first ones may still warm up.
std::int64_t a_usual_step(const Facts& facts, std::int32_t rank, const std::vector<Line>& slow) {
  std::int64_t usual = 0;
  for (const Line& line : facts.lines("steps", "steps", rank)) {
    const bool is_slow = std::ranges::any_of(
        slow, [&](const Line& other) { return other.whole("step") == line.whole("step"); });
    if (!is_slow) usual = line.whole("step");
  }
  return usual;
}

// Whether all of the slow ones are at the beginning: warm-up, which a training has once.
bool are_warm_up(const Facts& facts, std::int32_t rank, const std::vector<Line>& slow) {
  std::map<std::int64_t, std::vector<double>> windows;
  std::map<std::int64_t, std::vector<std::int64_t>> numbers;
  for (const Line& line : facts.lines("steps", "steps", rank)) {
    windows[line.whole("window")].push_back(line.number("step_ns"));
    numbers[line.whole("window")].push_back(line.whole("step"));
  }
  return std::ranges::all_of(slow, [&](const Line& line) {
    const std::vector<std::int64_t>& own = numbers[line.whole("window")];
    const std::size_t early = analysis::warmup_steps(windows[line.whole("window")]);
    const auto end = own.begin() + static_cast<std::ptrdiff_t>(early);
    return std::find(own.begin(), end, line.whole("step")) != end;
  });
}

// It costs a training once, not in every step: no gain is a step's.
Finding warmed_up(const Facts& facts, const RankSteps& rank, const std::vector<Weighed>& ranks,
                  std::size_t slow) {
  Finding finding = begin_finding(facts, kOutlierSteps, ranks, 0, 0);
  finding.gain = std::nullopt;
  finding.level = Level::kInfo;
  finding.title = {"The first step is much longer than the others: warm-up"};
  if (slow > 1) {
    finding.title = {"The first {} of {} steps are much longer than the others: warm-up",
                     {count(static_cast<double>(slow)), count(static_cast<double>(rank.steps))}};
  }
  finding.detail = {
      "Compiling, autotuning and the first allocations belong to the first steps. They make "
      "averages of this recording longer than those of the training, which has them once."};
  finding.changes = {
      {"Record later steps.", facts.recorder() == Recorder::kTorchProfiler
                                  ? "torch.profiler.schedule(wait=5, warmup=2, active=5)"
                                  : how_to_record(Wanted::kSteps, facts.recorder())}};
  return finding;
}

// Parts of a step, as people say them.
std::string_view outlier_steps_words_of(std::string_view part) {
  static constexpr std::array kWords =
      std::to_array<std::pair<std::string_view, std::string_view>>({
          {"kernel", "kernels on the GPU"},
          {"memcpy", "copies"},
          {"memset", "memsets"},
          {"communication", "communication"},
          {"runtime", "the CPU's calls to the GPU"},
          {"dataloader", "waiting for data"},
          {"cpu_exec", "operators on the CPU"},
          {"other", "Python and what was not recorded"},
      });
  const auto* const found =
      std::ranges::find(kWords, part, [](const auto& pair) { return pair.first; });
  return found == kWords.end() ? part : found->second;
}

std::vector<Finding> judge_outlier_steps(const Facts& facts) {
  const auto fewest = static_cast<std::int64_t>(facts.threshold(kOutlierSteps.id, "steps"));
  const auto ranks = worst_ranks(facts, kOutlierSteps.id, [&](const RankSteps& rank) {
    return rank.steps >= fewest ? excess_of(facts, rank) : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const auto slow = facts.lines("steps", "outliers", rank.rank);
  Finding finding;
  if (are_warm_up(facts, rank.rank, slow)) {
    finding = warmed_up(facts, rank, ranks, slow.size());
  } else {
    finding = begin_finding(facts, kOutlierSteps, ranks, 0, excess_of(facts, rank));
    finding.level = std::min(finding.level, Level::kNotice);  // which fault it is, it does not say
    finding.title = {
        "{} of {} steps are much longer than the others",
        {count(static_cast<double>(slow.size())), count(static_cast<double>(rank.steps))}};
    finding.detail = {
        "Half of the steps take at most {}; these take up to {}. Validation, checkpoints and "
        "compiling look like this when they fall into a step.",
        {nanos(rank.median_ns), nanos(slow.front().number("step_ns"))}};
    finding.changes = {
        {"See what happens in the slow steps alone.",
         fmt::format("stepscope diff PATH --step-a {} --step-b {}  # a usual one, a slow one",
                     a_usual_step(facts, rank.rank, slow), slow.front().whole("step"))}};
  }
  finding.measured.name = "what slow steps are longer than usual, of all steps";
  for (std::size_t i = 0; i < std::min<std::size_t>(3, slow.size()); ++i) {
    finding.evidence.push_back({.text = {"{} longer than usual; most of it: {}, {} more than usual",
                                         {nanos(slow[i].number("excess_ns")),
                                          outlier_steps_words_of(slow[i].text("grown_part")),
                                          nanos(slow[i].number("grown_ns"))}},
                                .rank = rank.rank,
                                .window = slow[i].whole("window"),
                                .step = slow[i].whole("step")});
  }
  finding.verify = "Record again: `stepscope analyze steps new.json` lists no outliers.";
  return {finding};
}

std::string why_not_outlier_steps(const Facts& facts) {
  const double fewest = facts.threshold(kOutlierSteps.id, "steps");
  const bool enough = std::ranges::any_of(facts.ranks(), [&](const RankSteps& rank) {
    return static_cast<double>(rank.steps) >= fewest;
  });
  return enough ? std::string() : "There are too few steps to say what is usual";
}

}  // namespace

const Rule kOutlierSteps{
    .id = "outlier-steps",
    .cause = "outliers",
    .asks = "Do a few steps take much longer than the others?",
    .needs = kOutlierStepsNeeds,
    .wanted = Wanted::kSteps,
    .judge = judge_outlier_steps,
    .why_not = why_not_outlier_steps,
    .of_device = false,
    .reads = {},
    .runs_dry = false,
};

}  // namespace stepscope::advice
