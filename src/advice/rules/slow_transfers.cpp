// Batches come to the GPU from pageable memory: the copy is slow, the host waits for it, and
// nothing computes meanwhile. Or there are many tiny copies.
#include <algorithm>
#include <array>
#include <cmath>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"
#include "analysis/compare/student.h"

namespace stepscope::advice {
namespace {

// A run that copies nothing has no row of copies, and nothing to mend.
constexpr std::array kSlowTransfersNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 2> kSlowTransfersReads = {"transfers", "stalls"};

struct Copies {
  double count = 0, bytes = 0, copy_ns = 0, blocking = 0, median_bytes = 0, bytes_per_second = 0;
};

// To the GPU, per step.
Copies uploads(const Facts& facts, const RankSteps& rank, std::string_view memory) {
  Copies out;
  const auto steps = static_cast<double>(rank.steps);
  for (const Line& line : facts.lines("transfers", "classes", rank.rank)) {
    if (line.text("kind") != "HtoD" || line.text("host_memory") != memory) continue;
    out.count += line.number("count") / steps;
    out.bytes += line.number("bytes") / steps;
    out.copy_ns += line.number("copy_ns") / steps;
    out.blocking += line.number("blocking") / steps;
    out.median_bytes = std::max(out.median_bytes, line.number("median_bytes"));
    out.bytes_per_second = std::max(out.bytes_per_second, line.number("bytes_per_second"));
  }
  return out;
}

// How many times as fast the same copies would be from pinned memory: as measured in this run on
// copies that are no smaller, else what is always reached.
double pinned_speedup(const Facts& facts, const RankSteps& rank, const Copies& pageable) {
  const Copies pinned = uploads(facts, rank, "pinned");
  const double least = facts.threshold(kSlowTransfers.id, "pinned_speedup");
  if (pinned.median_bytes < pageable.median_bytes || pageable.bytes_per_second <= 0) return least;
  return std::max(1.0, pinned.bytes_per_second / pageable.bytes_per_second);
}

// How much longer copies from pageable memory may take in another run: the CPU stages them, and how
// fast it does depends on where the memory lies and what else uses it. What they differ by from
// step to step is a measure of that: one more draw of the same exceeds it in one of twenty cases.
double slower_copies_ns(const Facts& facts, const RankSteps& rank, double copy_ns) {
  constexpr double kTail = 0.05;
  std::vector<double> per_byte;
  for (const Line& line : facts.lines("transfers", "steps", rank.rank)) {
    if (line.text("kind") != "HtoD" || line.text("host_memory") != "pageable") continue;
    if (line.number("bytes") > 0) per_byte.push_back(line.number("copy_ns") / line.number("bytes"));
  }
  if (per_byte.size() < 2) return 0;
  const Sample sample = sample_of(per_byte);
  const double deviation = std::sqrt(sample.variance * (1 + 1 / sample.count));
  const double more = analysis::student_quantile(kTail, sample.count - 1) * deviation / sample.mean;
  return std::min(1.0, more) * copy_ns;  // of two steps it is not known: twice as long is enough
}

Change copying_ahead() {
  return {
      "To hide the copy completely, with that: start the copy of the next batch before this "
      "step's work, on a stream of its own.",
      std::string(kCopyAhead)};
}

// For copies from pinned memory that are waited for.
std::vector<Change> not_waiting(const Facts& facts) {
  constexpr std::string_view kOwnLoop = "x = x.to(device, non_blocking=True)";
  return {{"Do not wait for the copy: from pinned memory it runs beside the CPU.",
           facts.by_framework(kOwnLoop, kOwnLoop,
                              "# accelerate: DataLoaderConfiguration(non_blocking=True)")},
          copying_ahead()};
}

std::vector<Change> pinning(const Facts& facts) {
  return {{"Let the loader put batches into pinned memory (without a DataLoader: x.pin_memory()), "
           "and do "
           "not wait for the copy.",
           facts.by_framework(
               "loader = DataLoader(dataset, ..., pin_memory=True)\n"
               "x = x.to(device, non_blocking=True)",
               "DataLoader(self.dataset, ..., pin_memory=True)  # Lightning copies without waiting",
               "TrainingArguments(..., dataloader_pin_memory=True)  # accelerate: "
               "DataLoaderConfiguration(non_blocking=True)")},
          copying_ahead()};
}

// A copy so small is staged by the driver at once, and nothing waits for it but the program.
std::vector<Change> tiny() {
  return {
      {"Make small tensors on the GPU, or do not wait for the copy: of so few bytes the driver "
       "takes a copy of its own at once.",
       "x = torch.full((), value, device=device)     # not torch.tensor(value).to(device)\n"
       "x = x.to(device, non_blocking=True)"},
      {"Where many small values go to the GPU one by one: put them together, and copy them once.",
       "values = torch.tensor(list_of_values).to(device, non_blocking=True)"}};
}

// The copy that kept the host longest, for the evidence to jump to.
void add_jump(Evidence& evidence, const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (line.text("stall") != "upload" || !line.has_value("event")) continue;
    evidence.window = line.whole("window");
    if (line.has_value("step")) evidence.step = line.whole("step");
    evidence.event = line.whole("event");
    return;
  }
}

// No copy is known to come from pageable memory. ROCm never says from which memory one came, and
// not all recordings how large it was: nothing is claimed of either.
void say_what_is_known(Finding& finding, const Facts& facts, const RankSteps& rank) {
  const StallPerStep upload = facts.stall(rank, "upload");
  const bool pinned = uploads(facts, rank, "pinned").count > 0;
  finding.title = {"The GPU waits while the CPU copies data to it: {} of each step",
                   {share(finding.measured.value)}};
  finding.confidence = Confidence::kLow;
  finding.measured.name = "the GPU waits for calls that copy data to it, of the step";
  finding.detail = {
      "The CPU waits until its copies to the GPU are done, and the GPU has nothing to do for {} of "
      "each step before, between and after them. ",
      {nanos(upload.idle_ns)}};
  finding.detail.form +=
      pinned ? "They come from pinned memory, which the system never moves: the CPU need not wait "
               "for them."
             : "From what sort of memory they come, the recording does not say: from ordinary "
               "(pageable) memory the CPU always waits; from pinned memory, which the system never "
               "moves, only where it is not asked to do otherwise.";
  finding.changes = pinned ? not_waiting(facts) : pinning(facts);
  finding.verify =
      "Record again: `stepscope analyze stalls new.json` shows less idle time under 'upload'.";
}

std::vector<Finding> pageable(const Facts& facts) {
  const auto copying_ns = [&](const RankSteps& rank) {
    const StallPerStep upload = facts.stall(rank, "upload");
    return upload.copy_ns + upload.idle_ns;
  };
  const auto ranks = worst_ranks(facts, kSlowTransfers.id, copying_ns);
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep upload = facts.stall(rank, "upload");
  const Copies copies = uploads(facts, rank, "pageable");
  const double faster = pinned_speedup(facts, rank, copies);
  // Sample by sample: the waits between the copies go where they are one.
  const bool one_by_one = copies.count >= facts.threshold(kSlowTransfers.id, "small_copies");
  const Sure sure = sure_of(facts, rank, upload);
  const double slower = slower_copies_ns(facts, rank, upload.copy_ns);
  Finding finding =
      begin_finding(facts, kSlowTransfers, ranks,
                    upload.copy_ns * (1 - 1 / faster) + (one_by_one ? sure.gain_ns : 0),
                    copying_ns(rank) + lost_lead(facts, rank, copying_ns(rank)) + slower);
  // How fast the driver copies pageable memory differs from run to run.
  if (!one_by_one) finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"Copying data to the GPU holds up {} of each step",
                   {share(ranks.front().share)}};
  if (one_by_one) {
    finding.title = {"{} copies to the GPU per step, one after the other, take {} of its time",
                     {count(copies.count), share(ranks.front().share)}};
  }
  finding.measured.name =
      "nothing computes while data is copied from pageable memory, or waits for it, of the step";
  finding.detail = {
      "Each step copies {} to the GPU from ordinary (pageable) memory at {}. Such memory is copied "
      "twice, first into pinned memory, which the system never moves, and the CPU waits. Nothing "
      "computes for {} of each step: "
      "copies run for {}, and for {} the GPU waits before, between and after them.",
      {bytes(copies.bytes),
       {copies.bytes_per_second, base::Unit::kBytesPerSecond},
       nanos(copying_ns(rank)),
       nanos(upload.copy_ns),
       nanos(upload.idle_ns)}};
  const bool known = copies.count > 0;
  // Pinned memory would make them no faster: their bytes take no time.
  const bool is_tiny =
      known && copies.bytes > 0 && copies.bytes <= facts.threshold(kSlowTransfers.id, "small_copy");
  if (is_tiny) {
    finding.title = {"The CPU waits while it copies a few bytes to the GPU: {} of each step",
                     {share(ranks.front().share)}};
    finding.detail = {
        "Each step copies {} to the GPU in {} copies, and the CPU waits for them: the GPU has "
        "nothing "
        "to do for {} of each step before, between and after them.",
        {bytes(copies.bytes), count(copies.count), nanos(upload.idle_ns)}};
  }
  if (!known) say_what_is_known(finding, facts, rank);
  if (slower > kNoise * rank.median_ns) {
    finding.about_gain.form +=
        " How fast such memory is copied differs from step to step, and from run to run: the "
        "larger figure of the gain allows for {} more.";
    finding.about_gain.figures.push_back(nanos(slower));
  }
  for (const Line& line : facts.lines("transfers", "ops", rank.rank)) {
    if (line.text("kind") != "HtoD" || line.text("host_memory") != "pageable") continue;
    finding.evidence.push_back(
        {.text = {"{}: {} copies from pageable memory, {} and {} in all, at {}",
                  {line.has_value("op") ? line.text("op") : "no operator",
                   count(line.number("count")),
                   bytes(line.number("bytes")),
                   nanos(line.number("copy_ns")),
                   {line.number("bytes_per_second"), base::Unit::kBytesPerSecond}}},
         .rank = rank.rank});
    add_jump(finding.evidence.back(), facts, rank);
    break;  // the longest
  }
  if (one_by_one) {
    finding.detail.form =
        "The CPU waits for each of {} copies per step before it starts the next. " +
        finding.detail.form;
    finding.detail.figures.insert(finding.detail.figures.begin(), count(copies.count));
    say_tracing(finding, rank, sure);
  }
  add_places(finding, facts, rank, "upload");
  if (known) finding.changes = is_tiny ? tiny() : pinning(facts);
  if (one_by_one) {
    finding.changes.insert(finding.changes.begin(),
                           {"Put the tensors together on the CPU (samples of a batch, columns of a "
                            "table; those of one type), and copy them at once.",
                            "x = torch.stack(tensors).pin_memory().to(device, non_blocking=True)\n"
                            "# instead of torch.stack([one.to(device) for one in tensors])"});
  }
  if (!known) return {finding};
  finding.verify =
      "Record again: `stepscope analyze transfers --table classes --columns "
      "kind,host_memory,count,blocking,hidden_share new.json` shows HtoD copies from pinned "
      "memory, no blocking ones, and a hidden_share near 100 % if they overlap with computing.";
  return {finding};
}

// Each copy costs the host a call, whatever its size.
std::vector<Finding> small(const Facts& facts) {
  for (const RankSteps& rank : facts.ranks()) {
    for (const std::string_view memory : {"pageable", "pinned"}) {
      const Copies copies = uploads(facts, rank, memory);
      const double many = facts.threshold(kSlowTransfers.id, "small_copies");
      if (copies.count < many || copies.median_bytes <= 0 ||
          copies.median_bytes >= facts.threshold(kSlowTransfers.id, "small_copy")) {
        continue;
      }
      const bool waits = memory == "pageable";
      const double own = facts.stall(rank, "upload").idle_ns;
      Finding finding = begin_finding(facts, kSlowTransfers, {{&rank, own / rank.step_ns}}, 0,
                                      waits ? own + lost_lead(facts, rank, own) : 0);
      finding.level = std::max(finding.level, Level::kNotice);
      finding.title = {"{} small copies to the GPU per step", {count(copies.count)}};
      finding.measured = {"small copies to the GPU per step", copies.count, many,
                          base::Unit::kCount};
      finding.detail = {
          "Half of them are of at most {}. Every copy costs the CPU a call and, from "
          "pageable memory, a wait, however small it is.",
          {bytes(copies.median_bytes)}};
      finding.changes = {
          {"Make tensors on the GPU, or put small ones together before they are "
           "copied.",
           "torch.zeros(n, device=device)          # not torch.zeros(n).to(device)\n"
           "batch = torch.stack(tensors).to(device, non_blocking=True)"}};
      finding.verify =
          "Record again: `stepscope analyze transfers --table sizes new.json` counts fewer.";
      return {finding};
    }
  }
  return {};
}

std::vector<Finding> judge_slow_transfers(const Facts& facts) {
  std::vector<Finding> out = pageable(facts);
  return out.empty() ? small(facts) : out;
}

}  // namespace

const Rule kSlowTransfers{
    .id = "slow-transfers",
    .cause = "transfer",
    .asks = "Do copies to the GPU hold up the step?",
    .needs = kSlowTransfersNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_slow_transfers,
    .reads = kSlowTransfersReads,
};

}  // namespace stepscope::advice
