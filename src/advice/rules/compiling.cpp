// Code is compiled or loaded in the middle of training: torch.compile makes a version for each new
// shape, modules are loaded when first used.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/host_tasks.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kCompilingNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 2> kCompilingReads = {"host-work", "steps"};

// What only the first recorded step has, or one of a few, ends by itself.
bool comes_once(const Facts& facts, const RankSteps& rank) {
  return rank.steps >= 2 && task_of(facts, rank, "compile").steps <= 1;
}

std::int64_t versions_of(const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("host-work", "signs", rank.rank)) {
    return line.whole("most_versions");
  }
  return 0;
}

bool loads_only(const Facts& facts, const RankSteps& rank) {
  const auto most = longest_operator(facts, rank, "compile");
  return most && (most->op.starts_with("cu") || most->op.starts_with("hip"));
}

std::vector<Finding> judge_compiling(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kCompiling.id, [&](const RankSteps& rank) {
    return facts.stall(rank, "compile").idle_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep waits = facts.stall(rank, "compile");
  const TaskPerStep task = task_of(facts, rank, "compile");
  const bool once = comes_once(facts, rank);
  const bool loads = loads_only(facts, rank);
  const double idle = waits.idle_ns;
  Finding finding = begin_finding(facts, kCompiling, ranks, once ? 0 : (1 - kHostVaries) * idle,
                                  std::max(idle, task.host_ns) + lost_lead(facts, rank, idle));
  // Compiling is what a training begins with.
  if (once || rank.steps < 2) finding.level = std::min(finding.level, Level::kNotice);
  finding.measured.threshold = facts.threshold_of(kCompiling.id, finding.level);
  finding.title = {loads ? "Code is loaded into the GPU in the middle of training: {} of the time"
                         : "Code is compiled in the middle of training: {} of the time",
                   {share(ranks.front().share)}};
  finding.measured.name = "GPU idle while code is compiled or loaded, of the time of all steps";
  const auto steps = static_cast<double>(rank.steps);
  if (!once) {
    finding.about_gain = {" The smaller figure leaves {} for what recording adds to compiling.",
                          {share(kHostVaries)}};
  }
  finding.detail = {"In {} of {} steps the program stops for it, {} per step on average.",
                    {count(static_cast<double>(task.steps)), count(steps), nanos(task.host_ns)}};
  const std::int64_t versions = versions_of(facts, rank);
  if (!once && versions > 1) {
    finding.detail.form +=
        " One function has been compiled {} times by now: torch.compile makes a version of its own "
        "for inputs that earlier ones do not fit, usually for a new shape.";
    finding.detail.figures.push_back(count(static_cast<double>(versions)));
  }
  if (once) {
    finding.detail.form +=
        " It is in one step alone, and a training that goes on with the same shapes does not do it "
        "again: there is nothing to change then, but to record later.";
  }
  add_operators(finding, facts, rank, "compile");
  for (Evidence& evidence : finding.evidence) {
    if (evidence.text.figures.size() < 3) {
      evidence.text.form = "{}: {} per step";
    } else {
      evidence.text.form = "{}: {} per step, in {} calls";
    }
  }
  if (loads) {
    finding.changes = {
        {"Run each kind of step once before it counts: modules are loaded when a "
         "kernel of theirs is first used.",
         "export CUDA_MODULE_LOADING=EAGER  # loads all at the start"}};
  } else if (once) {
    finding.changes = {{"Record after the first steps.",
                        "schedule=torch.profiler.schedule(wait=10, warmup=2, active=5)"}};
  } else {
    finding.changes = {
        {"See what makes it compile again.", "TORCH_LOGS=recompiles python train.py"},
        {"Let one version serve all shapes, or mark the dimension that changes.",
         "model = torch.compile(model, dynamic=True)\n"
         "torch._dynamo.mark_dynamic(x, 1)  # for each batch, before the model is called"},
        {"Let shapes repeat: pad lengths to a few values, and drop the last, smaller batch.",
         "length = (length + 127) // 128 * 128\n"
         "loader = DataLoader(dataset, drop_last=True, ...)"}};
  }
  finding.verify =
      "Record again: `stepscope analyze host-work new.json` shows nothing under 'compile'.";
  return {finding};
}

}  // namespace

const Rule kCompiling{
    .id = "compiling",
    .cause = "compile",
    .asks = "Is code compiled or loaded in the middle of training?",
    .needs = kCompilingNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_compiling,
    .reads = kCompilingReads,
    .says_bounds = true,
};

}  // namespace stepscope::advice
