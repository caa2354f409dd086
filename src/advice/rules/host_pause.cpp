// The program stands still in something that was not recorded: files, logging, validation, Python's
// garbage collector. What it is, nothing in the recording says.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

constexpr std::array kHostPauseNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});

// Pauses count only where they are long for this run, or come in every other step.
StallPerStep pauses(const Facts& facts, const RankSteps& rank) {
  const StallPerStep pause = facts.stall(rank, "pause");
  const double least = facts.threshold(kHostPause.id, "pause") * rank.median_ns;
  const bool often = rank.steps >= 2 && 2 * pause.steps >= rank.steps;
  return pause.longest_ns >= least || often ? pause : StallPerStep{};
}

// What the program calls the worst of its pauses: a range of its own, or the functions of a stack.
std::string name_of_worst(const Facts& facts, std::int32_t rank) {
  for (const Line& line : facts.lines("stalls", "places", rank)) {
    if (line.text("stall") != "pause") continue;
    if (line.has_value("op")) return std::string(line.text("op"));
    const std::string_view frames = line.text("frames");
    return std::string(frames.substr(0, frames.find("; ")));
  }
  return {};
}

// "once", "5 times".
Figure counted(double count, std::string_view one, std::string_view many) {
  if (count == 1) return Figure(one);
  return Figure(std::to_string(std::llround(count)) + std::string(many));
}

// Where the GPU still had work when a pause began, the host was ahead of it; without a profiler it
// is further ahead, and more of the pause is hidden.
double surely_exposed_ns(const Facts& facts, const RankSteps& rank, const StallPerStep& pause) {
  constexpr double kHadWork = 0.05;  // of the pause
  if (pause.without_profiler_ns) return sure_of(facts, rank, pause).gain_ns;
  if (pause.host_ns - pause.idle_ns < kHadWork * pause.host_ns) return kHidden * pause.idle_ns;
  return kHidden *
         std::max(0.0, pause.idle_ns - pause.count * tracing_cost_of_step(facts, rank).most);
}

std::vector<Finding> judge_host_pause(const Facts& facts) {
  const auto ranks = worst_ranks(
      facts, kHostPause.id, [&](const RankSteps& rank) { return pauses(facts, rank).idle_ns; });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep pause = pauses(facts, rank);
  // Without the pause the host would be ahead by all of it and no more: what it costs beyond the
  // waits is the part that the GPU had work for.
  const double whole = std::max(pause.idle_ns, pause.host_ns);
  Finding finding =
      begin_finding(facts, kHostPause, ranks, surely_exposed_ns(facts, rank, pause),
                    std::min(whole, pause.idle_ns + lost_lead(facts, rank, pause.idle_ns)));
  // Without steps it is not known whether the pause is part of training.
  if (rank.steps < 2) finding.level = std::min(finding.level, Level::kNotice);
  finding.title = {"The program stands still and the GPU waits: {} of the time",
                   {share(ranks.front().share)}};
  finding.measured.name =
      "GPU idle while no operator of the framework runs, of the time of all steps";
  const double times = std::round(pause.count * static_cast<double>(rank.steps));
  finding.detail = {
      "The program does something outside PyTorch, {} in {}, and the GPU waits up to {} at a "
      "time. ",
      {counted(times, "once", " times"),
       counted(static_cast<double>(rank.steps), "one step", " steps"), nanos(pause.longest_ns)}};
  if (const std::string name = name_of_worst(facts, rank.rank); !name.empty()) {
    finding.detail.form += "The longest of it is in {}. ";
    finding.detail.figures.emplace_back(std::string_view(name));
  } else {
    finding.detail.form += "What it is, the recording does not say. ";
  }
  finding.detail.form +=
      "Python code of your own, time.sleep(), Python's garbage collector, writing files, logging, "
      "validation and waiting for another process look like this.";
  widen_by_rate(finding, facts, rank, "pause");
  add_places(finding, facts, rank, "pause");
  finding.changes = {
      {"Find out what it is: record once with stepscope, which notes each run of the garbage "
       "collector, and with Python's stacks, which name the function.",
       "import stepscope\n"
       "with stepscope.profile(\"runs/pause\", trace=[\"stacks\"]) as prof:\n"
       "    for batch in loader:\n"
       "        train_step(batch); prof.step()\n"
       "# then: stepscope advise runs/pause; stepscope analyze cpu --table frames runs/pause"},
      {"Once you know it is the garbage collector: delete gc.collect() from the loop if it is "
       "there. Else, once before the loop, have it skip all objects made so far.",
       "import gc\n"
       "gc.collect(); gc.freeze()"},
      {"Once you know it is logging or files: do it more rarely, or in a thread of its own.",
       facts.by_framework("if step % 100 == 0: log(metrics)", "Trainer(..., log_every_n_steps=100)",
                          "TrainingArguments(..., logging_steps=100)")}};
  finding.verify =
      "Record again over 20 steps or more: `stepscope advise new.json` names no pause.";
  doubt_how_often(finding, rank);
  return {finding};
}

}  // namespace

const Rule kHostPause{
    .id = "host-pause",
    .cause = "pause",
    .asks = "Does the program stand still in something that was not recorded?",
    .needs = kHostPauseNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_host_pause,
};

}  // namespace stepscope::advice
