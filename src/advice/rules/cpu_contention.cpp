// The thread that feeds the GPU waits for a processor: the job itself runs too many threads, or
// others on the machine take them. What to do differs, so the two are kept apart.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "advice/cpu_step.h"
#include "advice/host_stall.h"
#include "advice/job_processors.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kCpuContentionNeeds = std::to_array<Need>({{"steps", "times"}});
// Of a run without a trace.
constexpr std::array kCpuContentionInstead =
    std::to_array<Need>({{"throughput", "phases"}, {"system", "processes"}});
// A thread that has a processor launches, works and comes to its data sooner.
constexpr std::array<std::string_view, 1> kCpuContentionExplains = {"launch-bound"};
constexpr std::array<std::string_view, 6> kCpuContentionReads = {
    "system", "overview", "time", "throughput", "loop", "dataloader"};

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
  // The scheduler's tick: of less time nothing can be said.
  constexpr double kTick = 10e6;
  const auto process = process_of(facts, rank.rank, true);
  if (!process || static_cast<double>(rank.steps) * rank.step_ns < kTick) return 0;
  return std::min(process->number("waited_share") * rank.step_ns, idle_ns(facts, rank));
}

// Processor time of a step that the training thread surely used: no fix takes it away. A process
// that never kept more than one processor busy used all of its time there. Of several threads
// whose it was is not known, and those that wait for each other may spin: half of an equal part.
double used_ns(const RankSteps& rank, const Line& process,
               const std::optional<JobProcessors>& cpus) {
  constexpr double kOne = 1.1;  // samples are short, and their ends not exact
  const double most = process.has_value("max_cores") ? process.number("max_cores")
                      : cpus                         ? static_cast<double>(cpus->per_rank())
                                                     : 0;
  const double busy = process.number("mean_cores");
  if (most <= 0 || busy <= 0) return 0;
  const double share = most <= kOne ? busy : busy / std::ceil(most) / 2;
  // It did not run while it waited.
  return std::min(share, 1 - process.number("waited_share")) * rank.step_ns;
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
          process->number("most") == 1
              ? "{} process that it started kept {} busy, and waited for one {} of the time"
              : "{} processes that it started kept {} busy, and waited for one {} of the time on "
                "average",
          {count(process->number("most")), Figure(process->number("mean_cores"), base::Unit::kNone),
           share(process->number("waited_share"))}};
    }
    finding.evidence.push_back(std::move(evidence));
  }
}

// What keeps the processors busy that the training thread waits for.
enum class Crowd : std::uint8_t { kOwn, kNeighbours, kUnclear };

// Threads that share one operator, as torch said; 0: not recorded.
std::int64_t torch_threads(const Facts& facts, std::int32_t rank) {
  for (const Line& line : facts.lines("time", "times", rank)) {
    if (line.has_value("torch_threads")) return line.whole("torch_threads");
  }
  return 0;
}

// That the environment asks for, of every library; 0: not recorded.
std::int64_t asked_threads(const Facts& facts, std::int32_t rank) {
  for (const Line& line : facts.lines("time", "times", rank)) {
    if (line.has_value("asked_threads")) return line.whole("asked_threads");
  }
  return 0;
}

// One operator alone wants more processors than the rank has.
bool has_too_many_threads(const Facts& facts, std::int32_t rank,
                          const std::optional<JobProcessors>& cpus) {
  return cpus &&
         std::max(torch_threads(facts, rank), asked_threads(facts, rank)) > cpus->per_rank();
}

Crowd crowd_of(const Facts& facts, std::int32_t rank, const std::optional<JobProcessors>& cpus) {
  if (has_too_many_threads(facts, rank, cpus)) return Crowd::kOwn;
  if (!cpus || !cpus->load_known) return Crowd::kUnclear;
  const double full = facts.threshold(kCpuContention.id, "full");
  // It fills what it has, or its processes alone want more than that.
  if (cpus->own_cores >= full * cpus->usable || cpus->wanted_cores > cpus->usable) {
    return Crowd::kOwn;
  }
  const bool is_full = cpus->own_cores + cpus->other_cores >= full * cpus->all;
  if (is_full && cpus->other_cores >= facts.threshold(kCpuContention.id, "others") * cpus->all) {
    return Crowd::kNeighbours;
  }
  return Crowd::kUnclear;
}

Figure cores(double value) { return {value, base::Unit::kNone}; }

std::string_view work_of_thread(const Facts& facts) {
  return facts.on_gpu() ? "gives the GPU its work" : "trains";
}

// Its own processes beside training, workers for the most part, use more than training does.
bool is_of_workers(const Facts& facts, std::int32_t rank) {
  const auto training = process_of(facts, rank, true);
  const auto started = process_of(facts, rank, false);
  return training && started && started->number("mean_cores") > training->number("mean_cores");
}

// An operator is done when the last of its threads is, and those wait for each other.
void say_too_many_threads(Finding& finding, const Facts& facts, const JobProcessors& cpus,
                          std::int32_t rank) {
  const std::int64_t torch = torch_threads(facts, rank);
  const std::int64_t asked = asked_threads(facts, rank);
  const std::string right = std::to_string(cpus.threads());
  const auto processors = count(static_cast<double>(cpus.per_rank()));
  if (asked > cpus.per_rank()) {
    finding.title = {"OMP_NUM_THREADS asks for {} threads on {} processors",
                     {count(static_cast<double>(asked)), processors}};
    finding.detail = {
        "Libraries share the work of an operator among {} threads, as the "
        "environment asks, and the process may use {} processors. ",
        {count(static_cast<double>(asked)), processors}};
    if (torch > 0 && torch < asked) {
      finding.detail.form += "Torch itself took {} of them. ";
      finding.detail.figures.push_back(count(static_cast<double>(torch)));
    }
  } else {
    finding.title = {"Torch computes with {} threads on {} processors",
                     {count(static_cast<double>(torch)), processors}};
    finding.detail = {
        "Each operator on the CPU is shared out among {} threads "
        "(torch.set_num_threads), and the process may use {} processors. ",
        {count(static_cast<double>(torch)), processors}};
  }
  finding.detail.form +=
      "Threads take turns then, and an operator is done when the last of them is; those that are "
      "done use processor time while they wait. The thread that {} was ready and had no processor "
      "{} of the time.";
  finding.detail.figures.emplace_back(work_of_thread(facts));
  finding.detail.figures.push_back(share(cpus.waited_share));
  finding.changes.push_back(
      {"Let libraries have as many threads as the process has processors, less its workers.",
       "export OMP_NUM_THREADS=" + right +
           "  # in the job's script, before python or torchrun\ntorch.set_num_threads(" + right +
           ")  # or in the program"});
  finding.changes.push_back({"Ask for more processors, one for each thread.",
                             "#SBATCH --cpus-per-task=" + std::to_string(std::max(torch, asked))});
}

void say_own(Finding& finding, const Facts& facts, const JobProcessors& cpus) {
  const std::string threads = std::to_string(cpus.threads());
  finding.title.form =
      "The job runs more threads than it has processors: training waits for one {} of the time";
  finding.detail = {
      "The thread that {} was ready to run and no processor was free for it. "
      "The job may use {} processors, and its own processes compete for them ({} busy on average, "
      "but often more are wanted at once): "
      "{} training {}, and {} that this one started (workers of a DataLoader, most likely). "
      "Libraries start a thread per processor of the machine (OpenMP, MKL) in each of them.",
      {work_of_thread(facts), cores(cpus.usable), cores(cpus.own_cores),
       count(static_cast<double>(cpus.ranks)),
       cpus.ranks == 1 ? std::string_view("process") : std::string_view("processes"),
       count(static_cast<double>(cpus.started))}};
  finding.changes.push_back(
      {"Let the training process have no more threads than processors: those of the rank less its "
       "workers, at least one.",
       "export OMP_NUM_THREADS=" + threads +
           "  # in the job's script, before python or torchrun\ntorch.set_num_threads(" + threads +
           ")  # or in the program"});
  if (cpus.started > cpus.workers()) {
    const std::string workers = std::to_string(cpus.workers());
    finding.changes.push_back(
        {"Start fewer workers: with the training process as many as the rank has processors. If "
         "the loop then waits for data, ask for more processors instead.",
         facts.by_framework("loader = DataLoader(dataset, num_workers=" + workers + ", ...)",
                            "DataLoader(self.dataset, num_workers=" + workers + ", ...)",
                            "TrainingArguments(..., dataloader_num_workers=" + workers + ")")});
    // Threads of a process that hardly runs are not what takes the processors.
    if (is_of_workers(facts, finding.ranks.front()))
      std::swap(finding.changes[0], finding.changes[1]);
  }
  finding.changes.push_back(
      {"Ask for more processors: one for each process of a rank, and one more for its threads.",
       "#SBATCH --cpus-per-task=" +
           std::to_string(std::max(cpus.per_rank() + 1, cpus.started + 2))});
}

void say_neighbours(Finding& finding, const Facts& facts, const JobProcessors& cpus) {
  finding.title.form = "Other programs take the processors: training waits for one {} of the time";
  finding.detail = {
      "The thread that {} was ready to run and no processor was free for it. "
      "That is not this job's doing: it keeps {} of the machine's {} processors busy, others on "
      "the same machine {}.",
      {work_of_thread(facts), cores(cpus.own_cores), cores(cpus.all), cores(cpus.other_cores)}};
  const auto needed =
      std::max(cpus.started + 1, static_cast<std::int64_t>(std::ceil(cpus.own_cores)));
  finding.changes.push_back(
      {"Ask for processors that no other job may use, or for the whole machine.",
       "#SBATCH --cpus-per-task=" + std::to_string(needed) +
           "\n#SBATCH --exclusive\nsrun --cpu-bind=cores python train.py"});
  if (static_cast<double>(needed) >= cpus.all) return;
  const std::string last = std::to_string(needed - 1);
  finding.changes.push_back(
      {"Without a scheduler: see which program it is, and keep the two apart.",
       "top -o %CPU\ntaskset -c " + (needed == 1 ? last : "0-" + last) +
           " python train.py  # and the other program on the processors after these"});
}

void say_unclear(Finding& finding, const Facts& facts, const std::optional<JobProcessors>& cpus) {
  finding.title.form = "Training waits for a processor {} of the time";
  finding.detail = {"The thread that {} was ready to run and no processor was free for it.",
                    {work_of_thread(facts)}};
  if (cpus && cpus->load_known) {
    finding.detail.form +=
        " On average the machine was not full: the job kept {} of the {} processors it may use "
        "busy, others {}. Either all want to run at the same moments, or its processes are bound "
        "to a few processors.";
    for (const double value : {cpus->own_cores, cpus->usable, cpus->other_cores}) {
      finding.detail.figures.push_back(cores(value));
    }
  } else {
    finding.detail.form += " Whether the job itself or others kept them busy was not recorded.";
  }
  finding.changes.push_back(
      {"See which processors the process may use, and how many threads it starts.",
       "print(sorted(os.sched_getaffinity(0)), torch.get_num_threads())\n"
       "torch.set_num_threads(len(os.sched_getaffinity(0)))"});
}

// A trace alone: operators that stop in the middle, now this one and now that.
double interrupted_ns(const Facts& facts, const RankSteps& rank) {
  constexpr double kNames = 5;
  for (const Line& line : facts.lines("loop", "interruptions", rank.rank)) {
    const bool often = 2 * line.number("in_steps") >= line.number("steps");
    return often && line.number("names") >= kNames ? line.number("mean_ns") : 0;
  }
  return 0;
}

// Whether worker processes make the batches of this rank, as far as the trace names its loader.
bool has_loader_workers(const Facts& facts, std::int32_t rank) {
  for (const Line& line : facts.lines("dataloader", "loaders", rank)) {
    if (line.text("loader").find("MultiProcess") != std::string_view::npos) return true;
  }
  return false;
}

std::vector<Finding> judge_interruptions(const Facts& facts) {
  const auto ranks = worst_ranks(
      facts, kCpuContention.id, [&](const RankSteps& rank) { return interrupted_ns(facts, rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double seen = interrupted_ns(facts, rank);
  const Line line = facts.lines("loop", "interruptions", rank.rank).front();
  const bool workers = has_loader_workers(facts, rank.rank);
  // As much again may pass in calls and between operators, where other waits look the same.
  constexpr double kElsewhere = 2.5;
  Finding finding = begin_finding(facts, kCpuContention, ranks, kHidden * seen, kElsewhere * seen);
  finding.level = std::min(finding.level, Level::kWarning);
  finding.measured.threshold = facts.threshold_of(kCpuContention.id, finding.level);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.measured.name = "operators that stop in the middle, of the step";
  finding.title = {workers ? "Training and its loader's workers have too few processors: operators "
                             "stop in the middle for {} of each step"
                           : "Training has no processor again and again: operators stop in the "
                             "middle for {} of each step",
                   {share(ranks.front().share)}};
  finding.detail = {
      "{} times in {} steps an operator that usually takes some microseconds took up to {}, at "
      "another place in each step and in {} operators of different names ({} among them). No "
      "operator does that by itself: its thread had to give its processor to another.",
      {count(line.number("times")), count(line.number("steps")), nanos(line.number("longest_ns")),
       count(line.number("names")), line.text("longest_in")}};
  finding.about_gain.form +=
      " The larger figure counts as much again and a half: waits in calls and between operators, "
      "where the trace cannot tell them from others.";
  finding.evidence.push_back(
      {.text = {"{} per step, in {} of {} steps",
                {nanos(seen), count(line.number("in_steps")), count(line.number("steps"))}},
       .rank = rank.rank});
  if (workers) {
    finding.detail.form +=
        " Its loader has workers, which need processors, too; how many the process may use, the "
        "trace does not say.";
    finding.changes.push_back(
        {"Give the process a processor for each worker and one for itself; or start no more "
         "workers than it has processors, less one.",
         "print(sorted(os.sched_getaffinity(0)))  # that it may use\n"
         "loader = DataLoader(dataset, num_workers=max(1, len(os.sched_getaffinity(0)) - 1), "
         "...)"});
  }
  finding.changes.push_back(
      {"See which processors it may use, how many threads it starts, and what else runs there.",
       "print(sorted(os.sched_getaffinity(0)), torch.get_num_threads())\n"
       "export OMP_NUM_THREADS=1  # in each worker: worker_init_fn, torch.set_num_threads(1)"});
  finding.verify =
      "Record again with stepscope: `stepscope analyze system --table processes new.json` says how "
      "long it waits for a processor.";
  return {finding};
}

std::vector<Finding> judge_cpu_contention(const Facts& facts) {
  if (facts.lines("system", "processes").empty()) return judge_interruptions(facts);
  const auto ranks = worst_ranks(facts, kCpuContention.id, [&](const RankSteps& rank) {
    // A setting that is wrong is worth a notice, whatever it cost here.
    const bool is_wrong =
        trains_on_cpu(facts) &&
        has_too_many_threads(facts, rank.rank, job_processors(facts, rank.rank)) &&
        process_of(facts, rank.rank, true);
    const double least = facts.threshold(kCpuContention.id, "notice") * rank.step_ns;
    return std::max(cost_ns(facts, rank), is_wrong ? least : 0);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const Line process = *process_of(facts, rank.rank, true);
  const auto cpus = job_processors(facts, rank.rank);
  // The backward pass runs in a thread of its own, whose waits are not counted: as many at most.
  constexpr double kThreads = 2;
  const double most = std::min({kThreads * cost_ns(facts, rank), idle_ns(facts, rank),
                                rank.step_ns - used_ns(rank, process, cpus)});
  Finding finding = begin_finding(facts, kCpuContention, ranks, 0, most);
  finding.level = std::min(finding.level, Level::kWarning);  // what it cost is a bound
  finding.measured.threshold = facts.threshold_of(kCpuContention.id, finding.level);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title.figures = {share(process.number("waited_share"))};
  finding.measured.name =
      "the training thread is ready to run, has no processor, and no GPU hides it, of the step";
  const Crowd crowd = crowd_of(facts, rank.rank, cpus);
  const bool too_many = has_too_many_threads(facts, rank.rank, cpus);
  if (too_many) {
    say_too_many_threads(finding, facts, *cpus, rank.rank);
    // What threads cost that wait for each other, no counter of the system says.
    if (most < rank.step_ns / 2) finding.gain->high = static_cast<base::Nanos>(rank.step_ns / 2);
  } else if (crowd == Crowd::kOwn) {
    say_own(finding, facts, *cpus);
  }
  // What others on the machine do is no fault of the job, and never above one.
  if (crowd == Crowd::kNeighbours) {
    finding.level = std::min(finding.level, Level::kNotice);
    finding.measured.threshold = facts.threshold_of(kCpuContention.id, finding.level);
    if (trains_on_cpu(facts)) {
      finding.detail.form += " It may have cost up to {} of a step.";
      finding.detail.figures.push_back(nanos(static_cast<double>(finding.gain->high)));
      finding.gain.reset();
    }
  }
  if (crowd == Crowd::kNeighbours) say_neighbours(finding, facts, *cpus);
  if (crowd == Crowd::kUnclear) say_unclear(finding, facts, cpus);
  if (finding.gain && !too_many && most > cost_ns(facts, rank)) {
    finding.about_gain.form +=
        " It assumes that the thread of the backward pass, which was not measured, waits as long.";
  }
  add_processes(finding, facts, rank);
  finding.verify =
      "Record again: in `stepscope analyze system --table processes --columns "
      "processes,mean_cores,waited_share new.json` waited_share is below 5 %.";
  return {finding};
}

std::string why_not_cpu_contention(const Facts& facts) {
  const auto processes = facts.lines("system", "processes");
  const bool is_seen = std::ranges::any_of(
      facts.ranks(), [&](const RankSteps& rank) { return interrupted_ns(facts, rank) > 0; });
  if (processes.empty()) return is_seen ? std::string() : std::string(kNotByStepscope);
  const bool any = std::ranges::any_of(
      processes, [](const Line& line) { return line.has_value("waited_share"); });
  return any ? std::string()
             : "The system does not say how long threads wait for a processor "
               "(/proc/PID/schedstat)";
}

}  // namespace

const Rule kCpuContention{
    .id = "cpu-contention",
    .cause = "cpu",
    .asks = "Does training wait for a free processor, and what takes them?",
    .needs = kCpuContentionNeeds,
    .wanted = Wanted::kStepscope,
    .judge = judge_cpu_contention,
    .why_not = why_not_cpu_contention,
    .of_device = false,
    .reads = kCpuContentionReads,
    .runs_dry = false,
    .instead = kCpuContentionInstead,
    .explains = kCpuContentionExplains,
};

}  // namespace stepscope::advice
