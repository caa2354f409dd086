// More threads want to run than there are processors: the one that feeds the GPU waits its turn.
#include <algorithm>
#include <array>
#include <optional>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kNeeds = std::to_array<Need>({{"steps", "times"}});
// Of a run without a trace.
constexpr std::array kInstead =
    std::to_array<Need>({{"throughput", "phases"}, {"system", "processes"}});
constexpr std::array<std::string_view, 2> kReads = {"system", "overview"};

constexpr std::string_view kTraining = "training";  // the rank's own process, as `system` names it

std::optional<Line> process_of(const Facts& facts, std::int32_t rank, bool own) {
  for (const Line& line : facts.lines("system", "processes", rank)) {
    if ((line.text("processes") == kTraining) == own) return line;
  }
  return std::nullopt;
}

// Of a step, in which the GPUs had nothing to do; all of it where they were not recorded.
double idle_ns(const Facts& facts, const RankSteps& rank) {
  if (!facts.no_device_work().empty()) return rank.step_ns;
  double busy = 0;
  for (const Line& line : facts.lines("overview", "devices", rank.rank)) {
    busy = std::max(busy, line.number("busy_share"));
  }
  return (1 - busy) * rank.step_ns;
}

// What waiting for a processor can have cost a step.
double cost_ns(const Facts& facts, const RankSteps& rank) {
  const auto process = process_of(facts, rank.rank, true);
  if (!process) return 0;
  return std::min(process->number("waited_share") * rank.step_ns, idle_ns(facts, rank));
}

// Processors that the job may use on the machine of this name; 0: not known.
double processors(const Facts& facts, std::string_view node) {
  for (const Line& line : facts.lines("system", "machines")) {
    if (line.text("node") != node) continue;
    const double all = line.number("processors");
    return line.has("cpu_limit_cores") ? std::min(all, line.number("cpu_limit_cores")) : all;
  }
  return 0;
}

void add_processes(Finding& finding, const Facts& facts, const RankSteps& rank) {
  for (const bool own : {true, false}) {
    const auto process = process_of(facts, rank.rank, own);
    if (!process) continue;
    Evidence evidence{.text = {}, .rank = rank.rank};
    if (own) {
      evidence.text = {
          "the training process kept {} processors busy and waited for one {} of the "
          "time",
          {Figure(process->number("mean_cores"), base::Unit::kNone),
           share(process->number("waited_share"))}};
    } else {
      evidence.text = {
          "{} processes that it started kept {} busy, and waited for one {} of the "
          "time on average",
          {count(process->number("most")), Figure(process->number("mean_cores"), base::Unit::kNone),
           share(process->number("waited_share"))}};
    }
    finding.evidence.push_back(std::move(evidence));
  }
}

std::vector<Finding> judge(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kCpuContention.id,
                                 [&](const RankSteps& rank) { return cost_ns(facts, rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const Line process = *process_of(facts, rank.rank, true);
  const double usable = processors(facts, process.text("node"));
  Finding finding = begin_finding(facts, kCpuContention, ranks, 0, cost_ns(facts, rank));
  finding.level = std::min(finding.level, Level::kWarning);  // what it cost is a bound
  finding.measured.threshold = facts.threshold_of(kCpuContention.id, finding.level);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {
      "Too many threads for the processors: the training process waits for one {} of "
      "the time",
      {share(process.number("waited_share"))}};
  finding.measured.name =
      "the training thread is ready to run, has no processor, and no GPU hides it, of the step";
  finding.detail = {
      "The thread that gives the GPU its work was ready to run and no processor was free for it. "
      "Libraries start a thread per processor of the machine (OpenMP, MKL), and so does every "
      "DataLoader worker and every rank on the node."};
  if (usable > 0) {
    finding.detail.form += " The job may use {} processors.";
    finding.detail.figures.push_back(Figure(usable, base::Unit::kNone));
  }
  add_processes(finding, facts, rank);
  finding.changes = {
      {"Give each process as many threads as it has processors: those of the job, divided by its "
       "processes on the node.",
       "export OMP_NUM_THREADS=4  # in the job's script, before python or torchrun\n"
       "torch.set_num_threads(4)  # or in the program"},
      {"Start fewer workers: together with the ranks not more than there are processors.",
       facts.by_framework("loader = DataLoader(dataset, num_workers=2, ...)",
                          "DataLoader(self.dataset, num_workers=2, ...)",
                          "TrainingArguments(..., dataloader_num_workers=2)")},
      {"Ask for more processors.", "#SBATCH --cpus-per-task=16"}};
  finding.verify =
      "Record again with stepscope: in `stepscope analyze system --table processes new.json` "
      "waited_share "
      "is below 5 %.";
  return {finding};
}

std::string why_not(const Facts& facts) {
  const auto processes = facts.lines("system", "processes");
  if (processes.empty()) return std::string(kNotByStepscope);
  const bool any =
      std::ranges::any_of(processes, [](const Line& line) { return line.has("waited_share"); });
  return any ? std::string()
             : "The system does not say how long threads wait for a processor "
               "(/proc/PID/schedstat)";
}

}  // namespace

const Rule kCpuContention{
    .id = "cpu-contention",
    .cause = "cpu",
    .asks = "Do more threads want to run than there are processors?",
    .needs = kNeeds,
    .record = kRecordRun,
    .judge = judge,
    .why_not = why_not,
    .of_device = false,
    .reads = kReads,
    .runs_dry = false,
    .instead = kInstead,
};

}  // namespace stepscope::advice
