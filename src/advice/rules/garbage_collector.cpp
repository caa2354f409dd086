// Python's garbage collector stops the program while it walks over all objects.
#include <algorithm>
#include <array>
#include <cmath>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kGarbageCollectorNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 2> kGarbageCollectorReads = {"stalls", "time"};

// Only calls of gc.collect() have a stack; what Python starts by itself has none.
bool is_called(const Facts& facts) {
  const auto places = facts.lines("stalls", "places");
  return std::ranges::any_of(places, [](const Line& line) {
    return line.text("stall") == "collector" && line.has_value("frames");
  });
}

// "It ran once in 3 steps".
Sentence how_often(const StallPerStep& stall, double steps) {
  const double times = std::round(stall.count * steps);
  if (times == 1) return {"It ran once in {} steps", {count(steps)}};
  return {"It ran {} times in {} steps", {count(times), count(steps)}};
}

// Follows how often and how long it ran.
constexpr std::string_view kWhySlow =
    " A full collection looks at every object that Python holds: lists and dictionaries with "
    "millions of entries (file names, labels, caches) make it slow.";

// Python itself makes a collection that takes long only after many objects are new.
bool is_in_every_step(const StallPerStep& stall, const RankSteps& rank) {
  return rank.steps > 1 && stall.steps >= rank.steps;
}

void add_garbage_collector_changes(Finding& finding, const Facts& facts, bool in_every_step) {
  finding.changes = {
      {"Let it leave alone what stays: once, when model, data and optimizer are set up.",
       facts.by_framework("import gc\n"
                          "gc.collect(); gc.freeze()  # before the training loop",
                          "def on_train_start(self):  # of the LightningModule; import gc\n"
                          "    gc.collect(); gc.freeze()",
                          "import gc\n"
                          "gc.collect(); gc.freeze()  # before trainer.train()")},
      {"Hold large tables as NumPy arrays or tensors: one object each, and not one per entry.",
       "labels = torch.tensor(labels)  # instead of a list of millions of Python numbers"},
      {"Collect when it suits you: on all ranks in the same step, and rarely.",
       "gc.disable()  # once\n"
       "if step % 1000 == 0: gc.collect()"}};
  if (is_called(facts)) {
    finding.changes.insert(finding.changes.begin(),
                           {"The program asks for it: delete gc.collect() from the loop, in the "
                            "function named under 'where'.",
                            "# delete in the loop:\ngc.collect()"});
  } else if (in_every_step) {
    finding.changes.insert(
        finding.changes.begin(),
        {"It runs in every step, which Python by itself seldom does: look for gc.collect() in your "
         "loop, its callbacks and hooks, and delete it there.",
         "grep -rn \"gc.collect\" --include=\"*.py\" ."});
  }
  finding.verify =
      "Record again: `stepscope analyze stalls new.json` shows less under "
      "'collector', and "
      "`stepscope analyze steps --table steps new.json` no long steps.";
}

std::vector<Finding> judge_device(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kGarbageCollector.id, [&](const RankSteps& rank) {
    return facts.stall(rank, "collector").idle_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep stall = facts.stall(rank, "collector");
  const auto steps = static_cast<double>(rank.steps);
  // As for any pause: no more than the collections take.
  const double whole = std::max(stall.idle_ns, stall.host_ns);
  Finding finding =
      begin_finding(facts, kGarbageCollector, ranks, kHidden * stall.idle_ns,
                    std::min(whole, stall.idle_ns + lost_lead(facts, rank, stall.idle_ns)));
  finding.title = {"Python's garbage collector stops training: the GPU waits {} of the time",
                   {share(ranks.front().share)}};
  finding.measured.name = "GPU idle while the garbage collector runs, of the time of all steps";
  finding.detail = how_often(stall, steps);
  finding.detail.form += ", and the GPU waited up to {} at a time." + std::string(kWhySlow);
  finding.detail.figures.push_back(nanos(stall.longest_ns));
  widen_by_rate(finding, facts, rank, "collector");
  if (stall.steps < rank.steps) doubt_how_often(finding, rank);
  add_places(finding, facts, rank, "collector");
  add_garbage_collector_changes(finding, facts, is_in_every_step(stall, rank));
  return {finding};
}

// A recording of the host alone: a GPU may have been at work meanwhile.
std::vector<Finding> garbage_collector_judge_host(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kGarbageCollector.id, [&](const RankSteps& rank) {
    return facts.stall(rank, "collector").host_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep stall = facts.stall(rank, "collector");
  const auto steps = static_cast<double>(rank.steps);
  Finding finding = begin_finding(facts, kGarbageCollector, ranks, 0, stall.host_ns);
  finding.level = std::min(finding.level, Level::kWarning);
  finding.measured.threshold = facts.threshold_of(kGarbageCollector.id, finding.level);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"Python's garbage collector stops the program: {} of each step",
                   {share(ranks.front().share)}};
  finding.measured.name = "the program is in the garbage collector, of the step; time on the CPU";
  finding.detail = how_often(stall, steps);
  finding.detail.form += ", {} per step on average." + std::string(kWhySlow) +
                         " No GPU work was recorded: a GPU may have been at work meanwhile.";
  finding.detail.figures.push_back(nanos(stall.host_ns));
  widen_by_rate(finding, facts, rank, "collector");
  finding.evidence.push_back({.text = {"collections in {} of {} steps",
                                       {count(static_cast<double>(stall.steps)), count(steps)}},
                              .rank = rank.rank});
  add_garbage_collector_changes(finding, facts, is_in_every_step(stall, rank));
  return {finding};
}

std::vector<Finding> judge_garbage_collector(const Facts& facts) {
  return facts.no_device_work().empty() ? judge_device(facts) : garbage_collector_judge_host(facts);
}

// A trace names a collection only where the program called gc.collect() and stacks were recorded.
std::string why_not_garbage_collector(const Facts& facts) {
  if (!facts.lines("time", "times").empty()) return {};
  for (const Line& line : facts.lines("stalls", "kinds")) {
    if (line.text("stall") == "collector") return {};
  }
  return std::string(kNotByStepscope);
}

}  // namespace

const Rule kGarbageCollector{
    .id = "garbage-collector",
    .cause = "gc",
    .asks = "Does Python's garbage collector stop training?",
    .needs = kGarbageCollectorNeeds,
    .wanted = Wanted::kStepscope,
    .judge = judge_garbage_collector,
    .why_not = why_not_garbage_collector,
    .of_device = false,
    .reads = kGarbageCollectorReads,
};

}  // namespace stepscope::advice
