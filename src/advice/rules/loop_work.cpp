// A range that the program or its framework named takes a large part of each step and trains
// nothing: a callback, metrics, logging. Of trainings on the CPU; beside a GPU its waits say more.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "advice/cpu_step.h"
#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

// Of runs without a trace, too.
constexpr std::array kLoopWorkNeeds = std::to_array<Need>({{"steps", "times"}, {"loop", "parts"}});
constexpr std::array kLoopWorkInstead =
    std::to_array<Need>({{"throughput", "phases"}, {"time", "ranges"}});
constexpr std::array<std::string_view, 4> kLoopWorkReads = {"throughput", "loop", "system", "time"};

// A hook that a framework calls beside training, by who wrote it and what it is called; empty: the
// range is no hook. Lightning puts the state of a callback into its name.
struct LoopHook {
  std::string kind, owner, name;
};
LoopHook hook_of(std::string_view range) {
  for (const std::string_view kind : {"[Callback]", "[LightningModule]"}) {
    if (!range.starts_with(kind)) continue;
    range.remove_prefix(kind.size());
    const std::size_t dot = range.rfind('.');
    if (dot == std::string_view::npos) return {};
    std::string_view owner = range.substr(0, dot);
    owner = owner.substr(0, owner.find('{'));
    // A class in a function is called FUNCTION.<locals>.CLASS.
    if (const std::size_t last = owner.rfind('.'); last != std::string_view::npos) {
      owner.remove_prefix(last + 1);
    }
    LoopHook out{std::string(kind), std::string(owner), std::string(range.substr(dot + 1))};
    // Others are training itself: the step of the optimizer, the batch on its way.
    if (kind == "[LightningModule]" && !out.name.starts_with("on_")) return {};
    // What it saves has a rule of its own, and our own is no work.
    if (out.owner == "Stepscope" || out.owner.ends_with("Checkpoint")) return {};
    return out;
  }
  return {};
}

struct LoopWork {
  std::string name;  // as the program says
  bool is_hook = false;
  std::string hook = {};
  double ns = 0;  // per step
  double calls = 0;
  double cpu_ns = 0, clocked_ns = 0;  // processor time in them all, of this time
};

// Ranges of the program itself count by the time in which no operator runs.
std::map<std::string, LoopWork> named_work(const Facts& facts, const RankSteps& rank) {
  std::map<std::string, LoopWork> out;
  double steps = 0;
  for (const Line& line : facts.lines("time", "times", rank.rank)) steps = line.number("steps");
  if (steps <= 0) return out;
  for (const Line& line : facts.lines("time", "ranges", rank.rank)) {
    if (line.text("where") != "main thread") continue;
    const LoopHook hook = hook_of(line.text("range"));
    if (hook.owner.empty()) continue;
    LoopWork& one = out[hook.owner];
    one.name = hook.owner;
    one.is_hook = true;
    if (line.number("total_ns") > one.ns * steps) one.hook = hook.name;
    one.ns += line.number("total_ns") / steps;
    one.calls += line.number("calls");
    if (!line.has_value("cpu_ns")) continue;
    one.cpu_ns += line.number("cpu_ns");
    one.clocked_ns += line.number("total_ns");
  }
  double traced = 0;
  for (const Line& line : facts.lines("loop", "steps", rank.rank)) traced = line.number("steps");
  for (const Line& line : facts.lines("loop", "names", rank.rank)) {
    const std::string_view name = line.text("name");
    // A framework's own are around everything, and hooks were counted above.
    if (line.text("part") != "named ranges" || name.starts_with('[') || traced <= 0) continue;
    if (name.starts_with("Optimizer.") || name.find('#') != std::string_view::npos) continue;
    LoopWork& one = out[std::string(name)];
    if (one.is_hook) continue;
    one.name = name;
    one.ns += line.number("mean_ns");
    one.calls += line.number("calls");
  }
  return out;
}

LoopWork longest_work(const Facts& facts, const RankSteps& rank) {
  LoopWork out;
  for (const auto& [name, one] : named_work(facts, rank)) {
    if (one.ns > out.ns) out = one;
  }
  return out;
}

// By the processor time of its thread, where that was noted; else by that of the process.
std::optional<Busy> busy_of(const Facts& facts, const RankSteps& rank, const LoopWork& work,
                            double part) {
  constexpr double kMost = 0.7;
  constexpr double kLittle = 0.3;
  if (work.clocked_ns <= 0) return busy_in(facts, rank, part);
  const double used = work.cpu_ns / work.clocked_ns;
  return used >= kMost     ? std::optional(Busy::kWorks)
         : used <= kLittle ? std::optional(Busy::kWaits)
                           : std::nullopt;
}

std::vector<Finding> judge_loop_work(const Facts& facts) {
  if (!trains_on_cpu(facts)) return {};
  const auto ranks = worst_ranks(facts, kLoopWork.id, [&](const RankSteps& rank) {
    const double ns = longest_work(facts, rank).ns;
    const double own = ns - starved_in(facts, rank, ns);
    return std::min(1.0, own / own_step_ns(facts, rank)) * rank.step_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const LoopWork work = longest_work(facts, rank);
  const double step = cpu_step_ns(facts, rank);
  const double part = std::min(1.0, work.ns / step);
  Finding finding = begin_finding(facts, kLoopWork, ranks, 0, 0);
  set_cpu_gain(facts, rank, finding, kHidden * work.ns, work.ns);
  finding.measured.value = part;
  if (facts.level(kLoopWork.id, part) != Level::kCritical) {
    finding.level = std::min(finding.level, Level::kWarning);
  }
  finding.measured.threshold = facts.threshold_of(kLoopWork.id, finding.level);
  finding.measured.name = work.is_hook ? "in one callback, of the step"
                                       : "in one named range while no operator runs, of the step";
  finding.title = {work.is_hook ? "The callback '{}' takes {} of each step"
                                : "'{}' takes {} of each step, and nothing trains meanwhile",
                   {std::string_view(work.name), share(part)}};
  if (work.is_hook) {
    finding.detail = {
        "'{}.{}' runs between the batches, {} per step: training stands still until "
        "it returns.",
        {std::string_view(work.name), std::string_view(work.hook), nanos(work.ns)}};
  } else {
    finding.detail = {"The range '{}' takes {} per step in which no operator of PyTorch runs.",
                      {std::string_view(work.name), nanos(work.ns)}};
  }
  if (const auto busy = busy_of(facts, rank, work, part)) {
    finding.detail.form +=
        *busy == Busy::kWaits
            ? " Most of that it waits and uses no processor: for a file, a network, a lock, a "
              "sleep."
            : " It works all the time: Python or a library computes on the thread that trains.";
  }
  finding.evidence.push_back({.text = {"{} calls in the recording, {} per step on average",
                                       {count(work.calls), nanos(work.ns)}},
                              .rank = rank.rank});
  finding.changes = {
      {"Do it more rarely, or hand the work to a thread or process of its own.",
       work.is_hook ? facts.by_framework("if step % 100 == 0: ...",
                                         "def " + work.hook +
                                             "(self, trainer, *args):\n"
                                             "    if trainer.global_step % 100: return",
                                         "def " + work.hook +
                                             "(self, args, state, control, **kwargs):\n"
                                             "    if state.global_step % 100: return")
                    : "if step % 100 == 0:\n    with stepscope.range(\"" + work.name + "\"): ..."},
      {"See which of its lines take the time.",
       "@stepscope.lines(memory=False)\ndef " + (work.is_hook ? work.hook : "slow_part") +
           "(...):\n    ...\nprint(stepscope.lines_report(\"" +
           (work.is_hook ? work.hook : "slow_part") + "\"))"}};
  finding.verify = "Record again: `stepscope analyze time new.json` shows less for it.";
  return {finding};
}

std::string why_not_loop_work(const Facts& facts) {
  return trains_on_cpu(facts) ? std::string()
                              : "A GPU was at work: host-pause judges what the host does meanwhile";
}

}  // namespace

const Rule kLoopWork{
    .id = "loop-work",
    .cause = "loop",
    .asks = "Does a callback or a named part of the loop hold up a training on the CPU?",
    .needs = kLoopWorkNeeds,
    .wanted = Wanted::kStepscope,
    .judge = judge_loop_work,
    .why_not = why_not_loop_work,
    .of_device = false,
    .reads = kLoopWorkReads,
    .runs_dry = false,
    .instead = kLoopWorkInstead,
};

}  // namespace stepscope::advice
