// cuDNN tries out algorithms in the middle of training, because shapes keep changing.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kAutotuningNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 2> kAutotuningReads = {"autotuning", "stalls"};

// A search is thousands of calls, and the profiler slows each of them.
constexpr double kUntraced = 0.8;

struct SearchSum {
  double searches = 0, steps = 0;     // of the recording
  double device_ns = 0, once_ns = 0;  // per step: their kernels, and one of each
  double idle_ns = 0;                 // per step: the GPU waits for them
  double lost_ns() const { return device_ns - once_ns + idle_ns; }
};

// Searches of the first step alone are warm-up: every run has them once.
bool is_warm_up(const Facts& facts, const RankSteps& rank, const SearchSum& sum) {
  const auto steps = facts.lines("steps", "steps", rank.rank);
  const auto searches = facts.lines("autotuning", "searches", rank.rank);
  return sum.steps <= 1 && !steps.empty() && !searches.empty() &&
         steps.front().whole("step") == searches.front().whole("step");
}

SearchSum searches_of(const Facts& facts, const RankSteps& rank) {
  SearchSum sum;
  for (const Line& line : facts.lines("autotuning", "ranks", rank.rank)) {
    const auto steps = static_cast<double>(rank.steps);
    sum = {line.number("searches"), line.number("steps"), line.number("device_ns") / steps,
           line.number("once_ns") / steps, facts.stall(rank, "search").idle_ns};
  }
  return is_warm_up(facts, rank, sum) ? SearchSum{} : sum;
}

std::vector<Finding> judge_autotuning(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kAutotuning.id, [&](const RankSteps& rank) {
    return searches_of(facts, rank).lost_ns();
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const SearchSum sum = searches_of(facts, rank);
  const auto steps = static_cast<double>(rank.steps);
  const double own = sum.lost_ns();
  Finding finding = begin_finding(facts, kAutotuning, ranks, kUntraced * own,
                                  own + sum.once_ns + lost_lead(facts, rank, own));
  finding.title = {"Convolutions try out algorithms in the middle of training: {} of the time",
                   {share(ranks.front().share)}};
  finding.measured.name = "searches for the fastest algorithm, of the time of all steps";
  finding.detail = {
      "In {} of {} steps, {} calls in all ran dozens of kernels each to find the fastest one. "
      "torch.backends.cudnn.benchmark = True does that at the first call with every new shape: "
      "worth it where shapes stay the same, and lost where images, lengths or batch sizes change "
      "from step to step.",
      {count(sum.steps), count(steps), count(sum.searches)}};
  for (const Line& line : facts.lines("autotuning", "searches", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) break;
    Evidence evidence{.text = {"{}: {} kernels, {}",
                               {line.text("operator"), count(line.number("kernels")),
                                nanos(line.number("span_ns"))}},
                      .rank = rank.rank,
                      .window = line.whole("window")};
    if (line.has_value("inputs")) {
      evidence.text.form += "; inputs {}";
      evidence.text.figures.emplace_back(line.text("inputs"));
    }
    if (line.has_value("step")) evidence.step = line.whole("step");
    if (line.has_value("event")) evidence.event = line.whole("event");
    finding.evidence.push_back(std::move(evidence));
  }
  finding.changes = {
      {"Switch the search off.",
       facts.by_framework("torch.backends.cudnn.benchmark = False  # where the script sets it to "
                          "True",
                          "Trainer(..., benchmark=False)",
                          "torch.backends.cudnn.benchmark = False  # before trainer.train()")},
      {"Keep it and let shapes repeat: round sizes up to a few values, and drop the last, "
       "smaller batch.",
       "size = (size + 63) // 64 * 64  # before padding or resizing\n"
       "loader = DataLoader(dataset, drop_last=True, ...)"}};
  finding.verify =
      "Record again: `stepscope analyze autotuning new.json` shows no searches, or with rounded "
      "sizes one for each size.";
  return {finding};
}

}  // namespace

const Rule kAutotuning{
    .id = "cudnn-autotuning",
    .cause = "autotuning",
    .asks = "Do convolutions try out algorithms in the middle of training?",
    .needs = kAutotuningNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_autotuning,
    .reads = kAutotuningReads,
};

}  // namespace stepscope::advice
