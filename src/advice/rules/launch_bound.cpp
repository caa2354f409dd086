// The host needs longer to launch work than the GPU to do it: many short kernels.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

constexpr std::array kLaunchBoundNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}, {"launches", "ranks"}});

constexpr std::array<std::string_view, 1> kLaunchBoundReads = {"kernels"};

// Waits in which the host is in operators and calls, and Python between them as long as is usual:
// up to half as much, in every recording of a launching host. More is the program's own code.
double surely_launching_ns(const Facts& facts, const RankSteps& rank) {
  constexpr double kPythonBetween = 0.5;
  const StallPerStep launch = facts.stall(rank, "launch");
  return std::min(launch.idle_ns, (1 + kPythonBetween) * launch.inside_ns) +
         facts.stall(rank, "optimizer").idle_ns;
}

// A part of the waits is the recording itself, which no change saves.
void leave_out_recording(Finding& finding, const Facts& facts, const RankSteps& rank) {
  const TracingCost cost = tracing_cost_of_launching(facts, rank);
  // What is worth a notice may all be recording; a warning must remain without.
  const double beyond = launching_beyond_recording_ns(facts, rank);
  finding.level = std::min(
      finding.level, facts.level(kLaunchBound.id, beyond / rank.step_ns).value_or(Level::kNotice));
  if (launching_may_be_recording(facts, rank)) {
    finding.level = Level::kInfo;
    finding.gain->low = 0;
  }
  finding.measured.threshold = facts.threshold_of(kLaunchBound.id, finding.level);
  if (cost.most < kNoise * rank.median_ns) return;
  if (cost.known) {
    finding.detail.form +=
        " Recording makes this longer: steps without a profiler are shorter, by {} that the gain "
        "leaves out.";
    finding.detail.figures.push_back(nanos(cost.most));
    return;
  }
  // How much of it remains is an estimate: what was measured goes before it.
  finding.after_others = true;
  finding.confidence =
      std::min(finding.confidence, finding.gain->low > 0 ? Confidence::kMedium : Confidence::kLow);
  finding.detail.form +=
      " Recording makes this longer, since every operator and launch is noted: an estimated {} to "
      "{} of each traced step, which the gain leaves out.";
  finding.detail.figures.push_back(nanos(cost.least));
  finding.detail.figures.push_back(nanos(cost.most));
  if (finding.level == Level::kInfo || cost.most >= facts.launching_ns(rank)) {
    finding.detail.form += " It may be all of it: " + std::string(kKnowTracing);
  }
}

// What is launched by few calls already: graphs start most of the work.
bool replays_graphs(const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("launches", "ranks", rank.rank)) {
    return 2 * line.number("graph_work") >= line.number("work") && line.number("graph_work") > 0;
  }
  return false;
}

// Kernels that the compiler of PyTorch wrote.
bool is_compiled(const Facts& facts, const RankSteps& rank) {
  const auto kernels = facts.lines("kernels", "kernels", rank.rank);
  return std::ranges::any_of(kernels, [](const Line& line) {
    constexpr std::array<std::string_view, 4> kNames = {"triton_poi_", "triton_red_", "triton_per_",
                                                        "triton_tem_"};
    return std::ranges::any_of(
        kNames, [&](std::string_view name) { return line.text("name").starts_with(name); });
  });
}

// What is done already is not advised again.
Change fewer_launches(const Facts& facts, const RankSteps& rank) {
  if (replays_graphs(facts, rank)) {
    return {
        "Most of the work is started by graphs already. What the GPU waits for is between them: "
        "take more into a graph, and keep Python and copies between two of them short.",
        ""};
  }
  const bool compiled = is_compiled(facts, rank);
  return {compiled ? "It is compiled already: let the compiler replay its kernels as CUDA graphs, "
                     "without Python."
                   : "Let the compiler fuse small kernels and replay them as CUDA graphs, without "
                     "Python.",
          facts.by_framework("model = torch.compile(model, mode=\"reduce-overhead\")",
                             "model = torch.compile(model, mode=\"reduce-overhead\")  # before "
                             "fit()",
                             "TrainingArguments(..., torch_compile=True, "
                             "torch_compile_mode=\"reduce-overhead\")")};
}

std::vector<Finding> judge_launch_bound(const Facts& facts) {
  auto ranks = worst_ranks(facts, kLaunchBound.id,
                           [&](const RankSteps& rank) { return facts.launching_ns(rank); });
  std::erase_if(ranks, [&](const Weighed& one) { return !waits_for_launches(facts, *one.rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep optimizer = facts.stall(rank, "optimizer");
  const TracingCost recording = tracing_cost_of_launching(facts, rank);
  Finding finding = begin_finding(facts, kLaunchBound, ranks,
                                  kHidden * (surely_launching_ns(facts, rank) - recording.most),
                                  std::max(0.0, facts.launching_ns(rank) - recording.least));
  finding.title = {
      "The CPU starts GPU work more slowly than the GPU does it: the GPU waits {} of each step",
      {share(ranks.front().share)}};
  finding.measured.name = "GPU idle while the CPU launches work, of the step";
  for (const Line& line : facts.lines("launches", "ranks", rank.rank)) {
    const auto steps = static_cast<double>(rank.steps);
    finding.detail = {
        "A step starts {} pieces of GPU work, {} of them shorter than 10 µs, and each costs the "
        "CPU time in Python, in PyTorch and in the driver. While it prepares the next one, "
        "the GPU has nothing to do.",
        {count(line.number("work") / steps), count(line.number("short_kernels") / steps)}};
  }
  if (const double once = facts.waited_once_ns(rank); once > kNoise * rank.step_ns) {
    finding.detail.form +=
        " Left out of all figures: {} in waits that came once, where something starts, loads or "
        "compiles.";
    finding.detail.figures.push_back(nanos(once));
  }
  leave_out_recording(finding, facts, rank);
  add_places(finding, facts, rank, "launch");
  finding.changes = {
      fewer_launches(facts, rank),
      {"Give each kernel more to do: with a larger batch a step takes about as long and trains on "
       "more samples (the learning rate may have to follow).",
       facts.by_framework("loader = DataLoader(dataset, batch_size=4 * batch_size, ...)",
                          "DataLoader(self.dataset, batch_size=4 * batch_size, ...)",
                          "TrainingArguments(..., per_device_train_batch_size=4 * batch_size)")}};
  finding.verify =
      "Record again: `stepscope analyze stalls new.json` shows less idle time under 'launch'";
  if (optimizer.idle_ns > 0) finding.verify += " and 'optimizer', added";
  finding.verify += "; after a larger batch more samples per second instead.";
  return {finding};
}

}  // namespace

const Rule kLaunchBound{
    .id = "launch-bound",
    .cause = "launch",
    .asks = "Does the GPU wait because launching work takes the CPU too long?",
    .needs = kLaunchBoundNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_launch_bound,
    .reads = kLaunchBoundReads,
    .runs_dry = false,
    .takes_what_is_left = true,
};

}  // namespace stepscope::advice
