// Idle time that no other rule looks for: waits for communication or for another stream, pauses
// between queued kernels, launched work that did not begin, and launches that did not return.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "advice/driver_calls.h"
#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kGpuIdleNeeds =
    std::to_array<Need>({{"steps", "times"}, {"idle-time", "devices"}});
constexpr std::array<std::string_view, 3> kGpuIdleReads = {"overlap", "kernels", "stalls"};

struct Reason {
  std::string_view column, text;
  std::string_view title;  // "The GPU is idle {} of each step, …"
  std::string_view detail;
};
constexpr std::array kReasons = std::to_array<Reason>({
    {"communication_ns", "waiting for communication on another stream",
     "most of it while it waits for communication",
     "Work was queued, but had to wait until the GPU had exchanged data with other ranks."},
    {"dependency_ns", "waiting for work on another stream",
     "most of it while one stream waits for another",
     "Work was queued, but had to wait for work on another CUDA stream (an event, wait_stream)."},
    {"kernel_ns", "short pauses between kernels that were already queued",
     "most of it in short pauses between kernels",
     "The CPU is far enough ahead, but each kernel is so short that the GPU spends much of its "
     "time "
     "on going from one to the next: about a microsecond each time."},
    {"other_ns", "launched work that did not begin; the trace does not say why",
     "most of it with work in its queue that did not begin",
     "The CPU had launched the work, and the GPU did not begin it. What it waited for, this trace "
     "does not say: work on another stream, or something that traces do not show."},
});
constexpr Reason kGpuIdleTalk{
    "", "the CPU waits inside the process group", "most of it while the CPU waits in communication",
    "The CPU waits inside the process group, for other ranks or for the network, "
    "and gives the GPU no work meanwhile."};

// Of a step, by a column of idle-time.
double reason_ns(const Facts& facts, const RankSteps& rank, std::string_view column) {
  return column == "kernel_ns" ? short_pauses_ns(facts, rank) : idle_of(facts, rank, column);
}

// Regular stops with work in the queue, whatever work it is: turns of another process.
struct Turns {
  double stops = 0, usual_ns = 0, period_ns = 0;
  double idle_ns = 0, longer_ns = 0;  // per step: between kernels, and inside of them
};

std::optional<Turns> turns_of(const Facts& facts, const RankSteps& rank) {
  const double least = facts.threshold(kGpuIdle.id, "stops");
  const double alike = facts.threshold(kGpuIdle.id, "alike");
  for (const Line& line : facts.lines("idle-time", "stops", rank.rank)) {
    const double stops = line.number("between") + line.number("inside");
    if (stops * line.number("alike_share") < least || line.number("alike_share") < alike ||
        line.number("steady_share") < facts.threshold(kGpuIdle.id, "pace") ||
        line.number("same_work_share") > alike) {
      continue;
    }
    const auto steps = static_cast<double>(rank.steps);
    return Turns{stops, line.number("usual_ns"), line.number("period_ns"),
                 line.number("idle_ns") / steps, line.number("longer_ns") / steps};
  }
  return std::nullopt;
}

// The host is in a process group meanwhile. Where that is gloo's doing, gloo-on-gpu says so, and
// it is not reported twice.
double talking(const Facts& facts, const RankSteps& rank) {
  const double gloo = exposed_gloo_ns(facts, rank);
  if (rank.step_ns > 0 && facts.level(kGlooOnGpu.id, gloo / rank.step_ns)) return 0;
  return facts.stall(rank, "communication").idle_ns;
}

double unexplained(const Facts& facts, const RankSteps& rank) {
  double sum = talking(facts, rank);
  for (const Reason& reason : kReasons) sum += reason_ns(facts, rank, reason.column);
  return sum;
}

// The work before which most of the unexplained waits are, if it has at least a third of them.
std::optional<Line> waiting_work(const Facts& facts, const RankSteps& rank) {
  double all = 0;
  for (const Line& line : facts.lines("idle-time", "devices", rank.rank)) {
    all += line.number("other_ns");
  }
  for (const Line& line : facts.lines("idle-time", "queued", rank.rank)) {
    if (3 * line.number("idle_ns") < all) break;  // the worst is first
    return line;
  }
  return std::nullopt;
}

void add_waiting_work(Finding& finding, const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("idle-time", "queued", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) return;
    const double waits = line.number("waits");
    Sentence text = {waits == 1 ? "before {}: {} wait, {}" : "before {}: {} waits, {} in all",
                     {kernel(line.text("work")), count(waits), nanos(line.number("idle_ns"))}};
    if (waits > 1) {
      text.form += ", the longest {}";
      text.figures.push_back(nanos(line.number("longest_ns")));
    }
    if (line.has_value("launch")) {
      text.form += "; launched by {}";
      text.figures.emplace_back(line.text("launch"));
    }
    finding.evidence.push_back({.text = std::move(text), .rank = rank.rank});
  }
}

void say_turns(Finding& finding, const Facts& facts, const Turns& turns) {
  finding.title = {
      "The GPU stops again and again with work in its queue, {} of each step: it is "
      "probably shared with another process",
      {share(finding.measured.value)}};
  finding.detail = {
      "It stopped {} times, as a rule for {} and about every {}, before or in all sorts of kernels "
      "and whatever the CPU did. So a GPU stops that processes use by turns.",
      {count(turns.stops), nanos(turns.usual_ns), nanos(turns.period_ns)}};
  finding.changes = {
      {"See which processes are on the GPU while the training runs, and give the job a GPU of its "
       "own.",
       is_rocm(facts) ? "rocm-smi --showpids" : "nvidia-smi"}};
  if (!is_rocm(facts)) {
    finding.changes.push_back(
        {"If they are your own and must share it: with MPS their kernels run side by side instead "
         "of by turns.",
         "nvidia-cuda-mps-control -d  # once on the machine, before the processes start"});
  }
}

// What a recording with records of streams would name.
Change recording_streams() {
  return {
      "Record again with what streams wait for: if it is another stream, this finding names it.",
      "from torch._C._profiler import _ExperimentalConfig\n"
      "profile(..., experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True))"};
}

// A graph that waits at the same place each time waits for something in it; at its first node, for
// something before it.
void say_node(Finding& finding, const Facts& facts, const Line& work) {
  const bool is_first = work.whole("node") == 1;
  const std::string host = "a function on the CPU";
  finding.title.form =
      "The GPU is idle {} of each step, most of it before the same node of a graph";
  finding.detail.form +=
      " The longest waits come before node {} of {}: {}, launched by {}, {} times, "
      "for {} as a rule.";
  finding.detail.form +=
      is_first
          ? " It is the first: the graph waits as a whole, for what its stream had to do or to "
            "wait for before it, such as an event of another stream, or " +
                host + "."
          : " A graph that waits at the same place each time waits for something in it: " + host +
                ", an event from outside, or memory that it takes.";
  finding.detail.figures.push_back(count(work.number("node")));
  finding.detail.figures.push_back(count(work.number("nodes")));
  finding.detail.figures.push_back(kernel(work.text("work")));
  finding.detail.figures.emplace_back(work.text("launch"));
  finding.detail.figures.push_back(count(work.number("waits")));
  finding.detail.figures.push_back(nanos(work.number("median_ns")));
  if (is_first) {
    finding.changes.push_back(
        {"Look at what is put into the stream of the graph before it is "
         "launched, and at what that waits for.",
         ""});
  } else {
    finding.changes.push_back(
        {"Look at what stands before that node in the graph, and take it out of the capture.",
         "graph = torch.cuda.CUDAGraph(); graph.enable_debug_mode()  # before the capture\n"
         "graph.debug_dump(\"graph.dot\")  # after it: all nodes, also those a trace does not "
         "show"});
  }
}

void say_not_begun(Finding& finding, const Facts& facts, const RankSteps& rank) {
  const auto work = waiting_work(facts, rank);
  // Where streams wait is in the trace: more of it cannot be recorded, nor with ROCm.
  const bool can_record = !is_rocm(facts) && idle_of(facts, rank, "dependency_ns") <= 0;
  finding.changes.clear();
  if (work && work->number("waits") == 1) {
    finding.title.form =
        "The GPU is idle {} of each step, most of it in one wait of {} with work in "
        "its queue";
    finding.title.figures.push_back(nanos(work->number("idle_ns")));
    finding.detail.form += " It is one wait, before {}.";
    finding.detail.figures.push_back(kernel(work->text("work")));
    finding.confidence = Confidence::kLow;
    finding.changes.push_back(
        {"Record several steps after the warm-up: whether it comes in every step, or came once "
         "when "
         "the recording began, one wait does not say.",
         ""});
  } else if (work && work->has_value("node")) {
    say_node(finding, facts, *work);
  } else if (work) {
    finding.detail.form += " Most of it comes before one sort of work: {}, {} times.";
    finding.detail.figures.push_back(kernel(work->text("work")));
    finding.detail.figures.push_back(count(work->number("waits")));
  }
  if (can_record) finding.changes.push_back(recording_streams());
  if (finding.changes.empty()) {
    finding.changes.push_back(
        {"Look at what the CPU and the other streams do at these waits: the finding jumps there.",
         ""});
  }
  add_waiting_work(finding, facts, rank);
}

// What the GPU spends on starting and ending kernels, which a pause does not show: where many
// become one it goes, too. No more than they take.
double fixed_cost_ns(const Facts& facts, const RankSteps& rank) {
  const double each = facts.threshold(kGpuIdle.id, "kernel");
  double fixed = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    fixed += std::min(line.number("sum_ns"), each * line.number("count"));
  }
  return fixed * kernel_share_of_step(facts, rank);
}

std::string_view who_is_late(const Facts& facts) {
  if (facts.ranks().size() > 1) {
    return "See first whether one rank is late: its own findings say why.";
  }
  for (const Line& line : facts.lines("overview", "run")) {
    if (line.whole("world_size") != 1) continue;
    return "The job has one rank and no other to wait for: take the collectives out, or measure "
           "with more ranks.";
  }
  return "Only one rank was recorded: record the others too, one may be late.";
}

// The driver kept the launches of many steps: what held them, as far as the trace shows it. What
// happens once, where the program starts, is no step's.
std::vector<Finding> judge_held_launches(const Facts& facts) {
  const double least = facts.threshold(kGpuIdle.id, "steps");
  const auto ranks = worst_ranks(facts, kGpuIdle.id, [&](const RankSteps& rank) {
    return goes_on(facts, rank, "driver", "idle_ns", least) ? facts.stall(rank, "driver").idle_ns
                                                            : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep all = facts.stall(rank, "driver");
  const HeldLaunches held = held_launches(facts, rank, "driver");
  const DriverCalls holders = driver_calls(
      facts, rank, "driver", [](std::string_view call) { return !launches_work(call); });
  const DriverCalls launches = driver_calls(facts, rank, "driver", launches_work);
  Finding finding =
      begin_finding(facts, kGpuIdle, ranks, 0, all.idle_ns + lost_lead(facts, rank, all.idle_ns));
  finding.measured.name = "GPU idle while a call of the driver does not return, of the step";
  finding.level = std::min(finding.level, Level::kWarning);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  const bool known = holders.idle_ns > launches.idle_ns;
  if (known) {
    finding.title = {"The GPU waits {} of each step for {}",
                     {share(ranks.front().share), std::string_view(holders.most)}};
    finding.detail = {
        "Such calls of the driver take the CPU {} per step. They set something up: code, a stream, "
        "an event, a graph.",
        {nanos(holders.host_ns)}};
    if (held.held_ns > 0) {
      finding.detail.form +=
          " While another thread is in one, a launch does not return: {} of each step.";
      finding.detail.figures.push_back(nanos(held.held_ns));
    }
    finding.changes = {
        {"Do it once, before the loop: make streams, events and graphs at the start and use them "
         "again, and run every shape once before the training.",
         ""}};
  } else {
    finding.title = {"Launches do not return at once: the GPU waits {} of each step inside {}",
                     {share(ranks.front().share), std::string_view(launches.most)}};
    finding.detail = {
        "A launch takes the CPU some microseconds. These took {} per step, while the GPU had "
        "nothing "
        "to do.",
        {nanos(held.held_ns)}};
    if (2 * held.first_use_ns >= held.held_ns) {
      finding.detail.form +=
          " Most of it, {}, came before kernels that the trace shows there for the first time: the "
          "driver loads the code of a kernel when it is first used. That this goes on means that "
          "steps use new kernels: of new shapes, or newly compiled.";
      finding.detail.figures.push_back(nanos(held.first_use_ns));
      finding.changes = {
          {"Run every shape once before the training, and use few of them: round sizes up.", ""}};
      if (!is_rocm(facts)) {
        finding.changes.push_back({"Load all code when the program starts.",
                                   "export CUDA_MODULE_LOADING=EAGER  # in the shell or job "
                                   "script"});
      }
    } else {
      finding.detail.form +=
          " What held them, the trace does not show: no thread that was recorded was in a call "
          "that "
          "holds others. It may be a thread without a processor, or one that was not recorded.";
      finding.changes = {{"Record the machine, too: it shows whether the processors are taken.",
                          "stepscope run -- python train.py"}};
    }
  }
  add_places(finding, facts, rank, "driver");
  finding.verify =
      "Record again: `stepscope analyze stalls new.json` shows less idle time under 'driver'.";
  return {finding};
}

// In one step, or a recording without marks of steps, nothing tells the start of a program from the
// training: what only a start does is said, and no gain of it.
std::vector<Finding> judge_start(const Facts& facts) {
  const auto start_ns = [&](const RankSteps& rank) {
    if (rank.steps > 1) return 0.0;
    return facts.stall(rank, "driver").idle_ns;
  };
  const auto ranks = worst_ranks(facts, kGpuIdle.id, start_ns);
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const HeldLaunches held = held_launches(facts, rank, "driver");
  Finding finding = begin_finding(facts, kGpuIdle, ranks, 0, 0);
  finding.gain.reset();
  finding.level = Level::kNotice;
  finding.measured.name = "GPU idle while a call of the driver does not return, of the recording";
  finding.measured.threshold = facts.threshold_of(kGpuIdle.id, finding.level);
  finding.title = {
      "The recording holds the start of the program: for {} of it the GPU waits for "
      "the driver",
      {share(ranks.front().share)}};
  finding.detail = {
      "Calls that launch work, or make streams and events, did not return for {} in all.",
      {nanos(start_ns(rank))}};
  if (held.first_use_ns > 0) {
    finding.detail.form +=
        " {} of it came before kernels that the trace shows there for the first time: the driver "
        "loads the code of a kernel when it is first used.";
    finding.detail.figures.push_back(nanos(held.first_use_ns));
  }
  finding.detail.form += " That comes once, and is no part of a training's steps.";
  finding.changes = {{"Record later steps, each of them marked.",
                      "profile(..., schedule=schedule(wait=5, warmup=2, active=20))\n"
                      "# and prof.step() at the end of each step"}};
  add_places(finding, facts, rank, "driver");
  finding.verify =
      "Record again: `stepscope analyze stalls new.json` shows less idle time under 'driver'.";
  return {finding};
}

std::vector<Finding> judge_queue(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kGpuIdle.id, [&](const RankSteps& rank) {
    const auto turns = turns_of(facts, rank);
    return unexplained(facts, rank) + (turns ? turns->longer_ns : 0);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const auto* const worst = std::ranges::max_element(
      kReasons, {}, [&](const Reason& reason) { return reason_ns(facts, rank, reason.column); });
  const double talk = talking(facts, rank);
  const bool talks = talk > reason_ns(facts, rank, worst->column);
  auto turns = turns_of(facts, rank);
  // They are what is said only where they are most of it.
  if (turns && 2 * (turns->idle_ns + turns->longer_ns) < ranks.front().share * rank.step_ns)
    turns.reset();
  const bool too_short = !talks && worst->column == "kernel_ns";
  const double fixed = too_short ? fixed_cost_ns(facts, rank) : 0;
  Finding finding =
      begin_finding(facts, kGpuIdle, ranks, 0, ranks.front().share * rank.step_ns + fixed);
  const Reason& reason_of_most = talks ? kGpuIdleTalk : *worst;
  finding.title = {"The GPU is idle {} of each step, " + std::string(reason_of_most.title),
                   {share(ranks.front().share)}};
  finding.measured.name = "GPU idle for reasons no other rule looks for, of the step";
  finding.detail = {std::string(reason_of_most.detail)};
  if (fixed > 0) {
    finding.detail.form +=
        " Starting and ending a kernel takes the GPU time inside of it, too, up to {} in each: {} "
        "per step, which go with the pauses where many kernels become one. The larger figure of "
        "the gain counts both; how many can become one, a trace does not say, so the smaller one "
        "is nothing.";
    finding.detail.figures.push_back(nanos(facts.threshold(kGpuIdle.id, "kernel")));
    finding.detail.figures.push_back(nanos(fixed));
  }
  if (talk > 0) add_places(finding, facts, rank, "communication", 2);
  if (turns) {
    finding.measured.name = "GPU stopped with work in its queue, of the step";
    say_turns(finding, facts, *turns);
  } else if (!talks && worst->column == "other_ns") {
    say_not_begun(finding, facts, rank);
  }
  // Whatever it waited for: what is known to cost time is to be mended before it.
  finding.after_others = turns || (!talks && worst->column == "other_ns");
  for (const Reason& reason : kReasons) {
    const double idle = reason_ns(facts, rank, reason.column);
    if (idle <= 0) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} per step", {reason.text, nanos(idle)}}, .rank = rank.rank});
  }
  if (turns || (!talks && worst->column == "other_ns")) {
    // They are named above.
  } else if (talks || worst->column == "communication_ns" || worst->column == "dependency_ns") {
    finding.changes = {
        {std::string(who_is_late(facts)) + " Then let communication run beside the backward pass.",
         "DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True)"}};
  } else {
    finding.changes = {
        {"Fewer, longer kernels: let the compiler fuse them.",
         facts.by_framework("model = torch.compile(model)",
                            "model = torch.compile(model)  # before fit()",
                            "TrainingArguments(..., torch_compile=True)")},
        {"In your own loops over parameters (averages of weights, clipping, logging of norms): one "
         "call for the whole list of tensors.",
         "torch._foreach_lerp_(averages, weights, 0.01)  # instead of: for a, w in zip(...): "
         "a.lerp_(w, 0.01)\n"
         "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)"}};
  }
  finding.verify =
      talks ? "Record again: `stepscope analyze stalls new.json` shows less idle time under "
              "'communication'."
            : "Record again: `stepscope analyze idle-time --table devices --columns device," +
                  std::string(worst->column) + " new.json` shows less under '" +
                  std::string(worst->column) + "'.";
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  // Nothing of it is sure to be gained: what others cause goes with their causes.
  finding.level = std::min(finding.level, Level::kWarning);
  return {finding};
}

std::vector<Finding> judge_gpu_idle(const Facts& facts) {
  std::vector<Finding> out = judge_queue(facts);
  std::ranges::move(judge_held_launches(facts), std::back_inserter(out));
  std::ranges::move(judge_start(facts), std::back_inserter(out));
  return out;
}

}  // namespace

const Rule kGpuIdle{
    .id = "gpu-idle",
    .cause = "idle",
    .asks = "Is the GPU idle for a reason that no other rule looks for?",
    .needs = kGpuIdleNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_gpu_idle,
    .reads = kGpuIdleReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
