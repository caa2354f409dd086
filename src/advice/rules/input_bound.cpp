// The GPU has nothing to do while the training loop waits for its next batch.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "advice/cpu_step.h"
#include "advice/host_stall.h"
#include "advice/loader_cause.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kInputBoundNeeds =
    std::to_array<Need>({{"steps", "times"}, {"dataloader", "loaders"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 4> kInputBoundReads = {"loader", "system", "throughput",
                                                              "time"};
// Of a run that was recorded without a trace.
constexpr std::array kInputBoundInstead =
    std::to_array<Need>({{"throughput", "phases"}, {"loader", "loaders"}});

// How the worst loader of a rank makes its batches.
struct Loader {
  std::string name;
  double sum_ns = 0, fetches = 0, operators_share = 0;
  // What worker processes of the rank recorded of themselves, and the longest of it.
  std::string worker_range = {};
  double worker_calls = 0, worker_mean_ns = 0;

  bool in_loop() const { return name.find("SingleProcess") != std::string::npos; }
  bool has_workers() const {
    return name.find("MultiProcess") != std::string::npos || !worker_range.empty();
  }
};

// The name of a watched loader does not say whether it has workers, but they have recordings.
void add_workers(Loader& loader, const Facts& facts, std::int32_t rank) {
  if (loader.in_loop()) return;
  double longest = 0;
  for (const Line& line : facts.lines("time", "ranges", rank)) {
    if (line.text("where") != "worker processes" || line.number("total_ns") <= longest) continue;
    longest = line.number("total_ns");
    loader.worker_range = line.text("range");
    loader.worker_calls = line.number("calls");
    loader.worker_mean_ns = line.number("mean_ns");
  }
}

Loader loader_of(const Facts& facts, std::int32_t rank) {
  Loader out;
  for (const Line& line : facts.lines("dataloader", "loaders", rank)) {
    if (line.number("sum_ns") <= out.sum_ns) continue;
    out = {std::string(line.text("loader")), line.number("sum_ns"), line.number("fetches"),
           line.number("operators_share")};
  }
  add_workers(out, facts, rank);
  return out;
}

// The same of a run without a trace, whose loaders were watched.
Loader watched_loader_of(const Facts& facts, std::int32_t rank) {
  Loader out;
  for (const Line& line : facts.lines("loader", "loaders", rank)) {
    if (line.text("phase") != "training" || line.number("wait_ns") <= out.sum_ns) continue;
    out.name = line.text("loader");
    out.sum_ns = line.number("wait_ns");
    out.fetches = line.number("batches");
  }
  return out;
}

// The loader with workers, in the words of the framework and for the machine of this run.
std::string code_for_workers(const Facts& facts, const LoaderCause& cause) {
  const std::string workers = cause.workers_to_set();
  const std::string pinned = cause.on_gpu ? " pin_memory=True," : "";
  const std::string pinned_too = cause.on_gpu ? " dataloader_pin_memory=True," : "";
  return facts.by_framework(
      "loader = DataLoader(dataset, batch_size=...,\n"
      "                    num_workers=" +
          workers + "," + pinned +
          "\n                    persistent_workers=True, prefetch_factor=4)",
      "# in the LightningDataModule\n"
      "def train_dataloader(self):\n"
      "    return DataLoader(self.dataset, batch_size=...,\n"
      "                      num_workers=" +
          workers + "," + pinned +
          "\n                      persistent_workers=True, prefetch_factor=4)",
      "TrainingArguments(...,\n                  dataloader_num_workers=" + workers + "," +
          pinned_too +
          "\n                  dataloader_persistent_workers=True, dataloader_prefetch_factor=4)");
}

// The rank has fewer processors than workers would keep up.
Change more_processors(const LoaderCause& cause) {
  return {
      cause.per_core() == 1
          ? "For all of the workers that would keep up, ask for more processors: one for each, and "
            "one for the training loop."
          : "For more of these workers, ask for more processors: one for every " +
                std::to_string(cause.per_core()) + ", and one for the training loop.",
      "#SBATCH --cpus-per-task=" + std::to_string(cause.processors_to_ask_for())};
}

// What to write in the script, in the words of the sentence about how many would keep up.
std::string why_workers(const LoaderCause& cause, const std::string& begin) {
  const std::string limit =
      !cause.processors_lack() ? ""
      : cause.per_core() == 1 ? ", as many as the rank has processors for beside the training loop"
                              : ", as many as the processors of the rank can serve while most wait";
  if (cause.workers == 0) return begin + limit + ".";
  return limit.empty() ? "Give the loader more workers, and let them work further ahead."
                       : "Give the loader more workers" + limit + ".";
}

std::vector<Change> input_bound_changes_for(const Facts& facts, const Loader& loader,
                                            const LoaderCause& cause) {
  const std::string_view meanwhile =
      cause.on_gpu ? "while the GPU computes" : "while the model computes";
  const std::string begin = "Let worker processes make the batches " + std::string(meanwhile);
  std::vector<Change> out;
  if (cause.watched) {
    if (auto change = cause.change()) out.push_back(*std::move(change));
    // No node has more: then a batch must become cheaper.
    constexpr std::int64_t kManyWorkers = 64;
    if (cause.workers_help()) {
      // Waits side by side are the short way, where nothing has to be read faster.
      const bool is_first = cause.per_core() > 1 && !cause.reads_files;
      out.insert(is_first ? out.begin() : out.end(),
                 {why_workers(cause, begin), code_for_workers(facts, cause)});
    }
    if (cause.late && cause.processors_lack() && cause.wanted() <= kManyWorkers) {
      out.push_back(more_processors(cause));
    }
    if (out.empty()) {
      out.push_back(
          {"Ask for a batch less often: larger batches, or fewer and larger tensors in "
           "each.",
           ""});
    }
    return out;
  }
  const bool is_plain = !cause.loader.empty();  // watched, and no loader of torch
  if (is_plain) {
    out.push_back(
        {begin + ": a DataLoader of torch around your dataset has workers. Start with the CPU "
                 "cores of each process (rank) of the job, less one.",
         code_for_workers(facts, cause)});
  } else if (!loader.has_workers()) {
    out.push_back({begin +
                       ": set num_workers where your script makes its DataLoader. Start with the "
                       "CPU cores of each process (rank) of the job, less one. Each worker keeps "
                       "prefetch_factor batches in memory.",
                   code_for_workers(facts, cause)});
  } else {
    out.push_back(
        {"There are workers and they do not keep up: start more of them, up to the CPU cores of "
         "each process (rank) of the job, less one. Each keeps prefetch_factor batches in memory.",
         code_for_workers(facts, cause)});
  }
  out.push_back(
      {"Make a batch cheaper: do once what gives the same result every time (decoding, "
       "resizing, tokenising, not random augmentation), and store the result." +
           std::string(is_plain ? ""
                                : " What a batch costs and whether it is read from files, "
                                  "stepscope's own recording says (prof.watch(loader))."),
       "# before training, once\nfor i, sample in enumerate(dataset): "
       "torch.save(prepare(sample), f\"cache/{i}.pt\")\n"
       "# in the dataset's __getitem__: return torch.load(f\"cache/{index}.pt\")"});
  return out;
}

void say_who_makes_it(Sentence& into, const Loader& loader, bool is_plain) {
  if (loader.in_loop()) {
    into.form +=
        "The loader has no workers (num_workers=0): the training loop itself makes the batch, and "
        "nothing is prepared while the model computes.";
  } else if (loader.has_workers()) {
    into.form +=
        "The loader has workers; they are too few, or what they do for one batch takes too long "
        "(reading files, decoding, augmenting).";
    if (loader.worker_range.empty()) return;
    into.form += " They recorded {} calls of '{}', {} on average.";
    into.figures.push_back(count(loader.worker_calls));
    into.figures.emplace_back(std::string_view(loader.worker_range));
    into.figures.push_back(nanos(loader.worker_mean_ns));
  } else {
    into.form += is_plain ? "It is no DataLoader of torch: how a batch is made is not recorded."
                          : "Which process makes the batch is not recorded.";
  }
}

// What the workers recorded of themselves says more than the name of the loader's class.
void add_maker(Finding& finding, const Loader& loader, const LoaderCause& cause) {
  if (cause.watched) {
    cause.explain(finding.detail);
  } else {
    say_who_makes_it(finding.detail, loader, !cause.loader.empty());
  }
}

// Of a loader that was watched: all steps tell, and a trace sees only a few of them.
constexpr std::string_view kVerifyWatched =
    "Record again: in `stepscope analyze throughput new.json` the wait share of training falls "
    "below 5 %. Then fewer num_workers may do as well: `stepscope sweep dataloader` tries settings "
    "and names the best.";
constexpr std::string_view kVerify =
    "Record again: in `stepscope analyze dataloader new.json` the waiting per step falls below 5 % "
    "of the step. Then fewer num_workers may do as well: `stepscope sweep dataloader` tries "
    "settings "
    "and names the best.";

bool is_traced(const Facts& facts) { return facts.table("dataloader", "ranks") != nullptr; }

// The steps that no profiler slowed, where the run has some beside those that were traced: tracing
// makes the work of a step longer and not the wait, so that its share comes out too small.
struct Untraced {
  double steps = 0, step_ns = 0, wait_share = 0;
  double wait_ns() const { return wait_share * step_ns; }
};

std::optional<Untraced> untraced_steps(const Facts& facts, const RankSteps& rank) {
  const auto found = is_traced(facts) ? facts.untraced(rank) : std::nullopt;
  if (!found || !found->wait_share) return std::nullopt;
  return Untraced{found->steps, found->step_ns, *found->wait_share};
}

// Batches that come in bursts: the traced steps wait far more, or less, than the others.
constexpr double kAlike = 1.5;
bool wait_more(const Untraced& untraced, double traced_ns) {
  return untraced.wait_ns() > kAlike * traced_ns;
}
bool is_bursty(const Untraced& untraced, double traced_ns) {
  return wait_more(untraced, traced_ns) || traced_ns > kAlike * untraced.wait_ns();
}

// What was measured of which steps.
void add_untraced_waits(Finding& finding, const RankSteps& rank,
                        const std::optional<Untraced>& untraced) {
  if (!untraced) return;
  finding.measured.name += rank.steps == 1 ? " (of the traced step)" : " (of the traced steps)";
  finding.evidence.insert(
      finding.evidence.begin(),
      {.text = {"{} steps that were not traced wait {} of their time: {} of {} on average",
                {count(untraced->steps), share(untraced->wait_share), nanos(untraced->wait_ns()),
                 nanos(untraced->step_ns)}},
       .rank = rank.rank});
}

// The traced steps beside all others, which a finding is about where there are some.
void add_traced(Finding& finding, const RankSteps& rank, double wait_ns) {
  finding.measured.name += " (of the steps that were not traced)";
  finding.evidence.insert(
      finding.evidence.begin(),
      {.text = {rank.steps == 1 ? "the {} traced step waits {} of its time: {} of {}"
                                : "the {} traced steps wait {} of their time: {} of {} each",
                {count(static_cast<double>(rank.steps)), share(wait_ns / rank.step_ns),
                 nanos(wait_ns), nanos(rank.step_ns)}},
       .rank = rank.rank});
}

double wait_on_host(const Facts& facts, const RankSteps& rank) {
  double wait = 0;
  for (const Line& line : facts.lines("dataloader", "ranks", rank.rank)) {
    wait += line.number("wait_ns") / static_cast<double>(rank.steps);
  }
  if (is_traced(facts)) return wait;
  for (const Line& line : facts.lines("throughput", "phases", rank.rank)) {
    if (line.text("phase") == "training") wait += line.number("wait_share") * rank.step_ns;
  }
  return wait;
}

void add_fetches(Finding& finding, const Facts& facts, std::int32_t rank, const Loader& loader) {
  for (const Line& line : facts.lines("dataloader", "loaders", rank)) {
    if (line.text("loader") != loader.name) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} fetches; half of them took at least {}, the longest {}",
                  {line.text("loader"), count(line.number("fetches")),
                   nanos(line.number("median_ns")), nanos(line.number("max_ns"))}},
         .rank = rank});
  }
  if (is_traced(facts)) return;
  for (const Line& line : facts.lines("loader", "loaders", rank)) {
    if (line.text("loader") != loader.name || line.text("phase") != "training") continue;
    finding.evidence.push_back(
        {.text = {"{}: {} batches; half of them were waited for at least {}, the longest {}",
                  {line.text("loader"), count(line.number("batches")),
                   nanos(line.number("median_wait_ns")), nanos(line.number("max_wait_ns"))}},
         .rank = rank});
  }
}

// Waits at the beginning of a pass are few and long: a share "of each step" would mislead.
void say_if_starting(Finding& finding, const LoaderCause& cause) {
  if (!cause.waits_at_start()) return;
  finding.title.form = cause.passes == 1
                           ? "The training loop waits for data, most of it for the first batch: {} "
                             "of the time"
                           : "The training loop waits for data, most of it at the start of each "
                             "pass: {} of the time";
}

// Of the wait in which the training loop makes its batch itself and had no processor: others on the
// machine keep it waiting then, and no loader.
double starved_of(const LoaderCause& cause) {
  return cause.watched && cause.workers == 0 ? std::clamp(cause.starved_share, 0.0, 1.0) : 0;
}

// What workers surely save of a wait on a machine without a GPU: those that wait for storage or a
// network need no processor, others need one that is free. As many as the change names.
double surely_saved(const Facts& facts, const LoaderCause& cause, double wait_ns, double step_ns) {
  if (!cause.watched || !facts.saw_no_gpu() || wait_ns <= 0) return 0;
  if (cause.waits_at_start() && !cause.starts_again()) return 0;
  if (cause.starts_again()) {
    const auto passes = static_cast<double>(cause.passes);
    return kHidden * cause.first_waits_share * wait_ns * (passes - 1) / passes;
  }
  if (!cause.workers_help() || !cause.cpus || cause.make_ns <= 0) return 0;
  const double rest = std::max(0.0, step_ns - wait_ns);  // the work on a batch
  const double free = std::max(0.0, cause.cpus->usable - cause.cpus->own_cores);
  const double by_cores = cause.cpu_cores > 0 ? free / cause.cpu_cores : 1e9;
  const auto set =
      static_cast<double>(std::min(cause.wanted(), std::max<std::int64_t>(cause.served(), 1)));
  const double side_by_side = std::max(1.0, std::min(set, by_cores));
  const double each = cause.make_ns / side_by_side;  // a batch comes so often
  if (by_cores < 1) return 0;                        // no processor is free for a worker
  const double left = std::max(0.0, each - rest);
  const double crowding =
      facts.threshold(kInputBound.id, "crowding") * rest * std::min(1.0, cause.cpu_cores);
  return std::max(0.0, kHidden * (wait_ns - left) - crowding);
}

// A recording of the host alone: how long the loop waits is known. Workers may need the cores that
// the model computes on, and a GPU that was not recorded may have been at work: nothing of it is
// sure to be gained then.
std::vector<Finding> input_bound_judge_host(const Facts& facts) {
  const bool on_gpu = is_traced(facts) && facts.no_device_work().empty();
  const auto ranks = worst_ranks(facts, kInputBound.id, [&](const RankSteps& rank) {
    const auto untraced = untraced_steps(facts, rank);
    const double traced = wait_on_host(facts, rank);
    // A GPU that was seen at work while the loop waited loses nothing by it.
    if (on_gpu && (!untraced || !wait_more(*untraced, traced))) return 0.0;
    const double own = 1 - starved_of(loader_cause(facts, rank.rank));
    const double all = own * (untraced ? untraced->wait_share * rank.step_ns : traced);
    // On a crowded machine the step is longer, and its faults are not smaller for that.
    return facts.saw_no_gpu() ? all * cpu_step_ns(facts, rank) / own_step_ns(facts, rank) : all;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const auto untraced = untraced_steps(facts, rank);
  const double wait = untraced ? untraced->wait_ns() : wait_on_host(facts, rank);
  const LoaderCause cause = loader_cause(facts, rank.rank);
  const double starved = starved_of(cause) * wait;
  const double sure =
      surely_saved(facts, cause, wait - starved, untraced ? untraced->step_ns : rank.step_ns);
  Loader loader = is_traced(facts) ? loader_of(facts, rank.rank) : Loader();
  if (loader.name.empty()) loader = watched_loader_of(facts, rank.rank);
  const double step = untraced ? untraced->step_ns : rank.step_ns;
  Finding finding = begin_finding(facts, kInputBound, ranks, sure, wait);
  // What a GPU did meanwhile is not known.
  const bool is_grave =
      facts.saw_no_gpu() && facts.level(kInputBound.id, wait / step) == Level::kCritical;
  if (!is_grave) finding.level = std::min(finding.level, Level::kWarning);
  finding.measured.threshold = facts.threshold_of(kInputBound.id, finding.level);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"The training loop waits for data: {} of each step", {share(wait / step)}};
  finding.measured.value = wait / step;
  finding.measured.name = "the loop waits for data, of the step; time on the CPU";
  finding.detail = {untraced ? "A step waits {} for its batch ({}), the mean of {} steps. "
                             : "Every step waits {} for its batch ({}). ",
                    {nanos(wait), std::string_view(loader.name)}};
  if (untraced) finding.detail.figures.push_back(count(untraced->steps));
  say_if_starting(finding, cause);
  add_maker(finding, loader, cause);
  if (starved > kNoise * rank.median_ns) {
    finding.detail.form +=
        " In {} of the wait the loop was ready and had no processor: that is not counted here.";
    finding.detail.figures.push_back(nanos(starved));
  }
  finding.detail.form +=
      on_gpu
          ? " In the traced steps the GPU did not wait for data; what it did in the others is not "
            "known."
      : facts.saw_no_gpu() ? " No GPU was seen on the machine: the model computes on the CPU, and "
                             "not while the loop "
                             "waits."
      : is_traced(facts)
          ? " No GPU work was recorded. If the model runs on the CPU, the wait is lost time; a GPU "
            "may have been at work meanwhile."
          : " There is no trace, so what a GPU did meanwhile is not known: it may have been at "
            "work. A trace of a few steps tells.";
  add_fetches(finding, facts, rank.rank, loader);
  if (untraced) {
    add_traced(finding, rank, wait_on_host(facts, rank));
    finding.measured.whole_ns = untraced->step_ns;
    finding.untraced_step_ns = static_cast<base::Nanos>(untraced->step_ns);
    finding.gain = Gain{static_cast<base::Nanos>(sure),
                        static_cast<base::Nanos>(std::ceil(std::max(wait, sure)))};
  }
  finding.changes = input_bound_changes_for(facts, loader, cause);
  finding.verify = untraced || !is_traced(facts) ? kVerifyWatched : kVerify;
  return {finding};
}

// The wait, and what passes until the GPU has work of the batch.
void add_idle(Sentence& detail, const StallPerStep& input) {
  constexpr double kWorthSaying = 0.02;
  const double after = input.idle_ns - input.inside_ns;
  detail.figures.push_back(nanos(input.idle_ns));
  if (after < kWorthSaying * input.idle_ns) {
    detail.form += "The GPU has nothing to do for {} of each step, all of it during that wait. ";
    return;
  }
  detail.form +=
      "The GPU has nothing to do for {} of each step: {} during that wait, and {} around it, until "
      "the first work of the batch has come. ";
  detail.figures.push_back(nanos(input.inside_ns));
  detail.figures.push_back(nanos(after));
}

std::vector<Finding> judge_input_bound(const Facts& facts) {
  if (!is_traced(facts) || !facts.no_device_work().empty()) return input_bound_judge_host(facts);
  const auto ranks = worst_ranks(facts, kInputBound.id, [&](const RankSteps& rank) {
    return facts.stall(rank, "input").idle_ns;
  });
  if (ranks.empty()) return input_bound_judge_host(facts);  // steps that were not traced may wait
  const RankSteps& rank = *ranks.front().rank;
  const auto untraced = untraced_steps(facts, rank);
  const StallPerStep input = facts.stall(rank, "input");
  const Loader loader = loader_of(facts, rank.rank);
  // Workers share the CPU with the loop: the rest of the step may take longer beside them.
  const double crowding =
      facts.threshold(kInputBound.id, "crowding") * (rank.step_ns - input.idle_ns);
  Finding finding = begin_finding(facts, kInputBound, ranks, kHidden * input.inside_ns - crowding,
                                  input.idle_ns + lost_lead(facts, rank, input.idle_ns));
  finding.title = {"The GPU waits for data: {} of each step", {share(ranks.front().share)}};
  finding.measured.name = "GPU idle while the loop waits for data, of the step";
  finding.detail = {"Every step waits {} for its batch ({}). ",
                    {nanos(input.host_ns), std::string_view(loader.name)}};
  if (!untraced || !is_bursty(*untraced, input.host_ns)) {
    add_idle(finding.detail, input);
  } else {
    finding.title = {"The training loop waits for data: {} of each step",
                     {share(untraced->wait_share)}};
    finding.detail = {
        "A step waits {} for its batch ({}), the mean of the {} steps that were not traced. The "
        "traced ones wait {}, and the GPU has nothing to do for {} of it. ",
        {nanos(untraced->wait_ns()), std::string_view(loader.name), count(untraced->steps),
         nanos(input.host_ns), nanos(input.inside_ns)}};
  }
  const LoaderCause cause = loader_cause(facts, rank.rank);
  if (untraced && is_bursty(*untraced, input.host_ns)) say_if_starting(finding, cause);
  add_maker(finding, loader, cause);
  add_places(finding, facts, rank, "input");
  add_untraced_waits(finding, rank, untraced);
  finding.changes = input_bound_changes_for(facts, loader, cause);
  finding.verify = untraced && is_bursty(*untraced, input.host_ns) ? kVerifyWatched : kVerify;
  return {finding};
}

}  // namespace

const Rule kInputBound{
    .id = "input-bound",
    .cause = "input",
    .asks = "Does the GPU wait for the data loader?",
    .needs = kInputBoundNeeds,
    .wanted = Wanted::kRanges,
    .judge = judge_input_bound,
    .of_device = false,
    .reads = kInputBoundReads,
    .instead = kInputBoundInstead,
};

}  // namespace stepscope::advice
