// Copies run while nothing computes: to the GPU from memory that is pinned, which could run beside
// computing, to the CPU, or on the GPU itself.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kExposedCopiesNeeds =
    std::to_array<Need>({{"steps", "parts"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 1> kExposedCopiesReads = {"transfers"};

// What slow-transfers, checkpoint-stall, cpu-optimizer and logged-tensors do not count already, per
// step.
double exposed_copies_exposed_of(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("steps", "parts", rank.rank)) {
    if (line.text("part") == "memcpy") sum += line.number("mean_ns");
  }
  double known = 0;
  for (const std::string_view sort : {"upload", "save", "update", "inspect"}) {
    known += facts.stall(rank, sort).copy_ns;
  }
  return std::max(0.0, sum - known);
}

// As people say it, with the word that tables have.
std::string_view exposed_copies_words_of(std::string_view kind) {
  if (kind == "HtoD") return "to the GPU, HtoD";
  return kind == "DtoH" ? "from the GPU, DtoH" : kind;
}

// Of the copies that nothing hides, by where they go.
struct Moves {
  double to_device = 0, to_host = 0, on_device = 0;

  double all() const { return to_device + to_host + on_device; }
  // Worth a change of its own.
  bool has(double part) const { return part > 0 && part >= kWorthwhile * all(); }

 private:
  static constexpr double kWorthwhile = 0.2;
};

// `exposed`: of them all. Those on the GPU itself are what the others leave: transfers are between
// CPU and GPU.
Moves moves_of(const Facts& facts, const RankSteps& rank, double exposed) {
  Moves out;
  for (const Line& line : facts.lines("transfers", "classes", rank.rank)) {
    const double own = line.number("copy_ns") * (1 - line.number("hidden_share")) /
                       static_cast<double>(rank.steps);
    const std::string_view kind = line.text("kind");
    if (kind == "HtoD" && line.text("host_memory") != "pageable") out.to_device += own;
    if (kind == "DtoH") out.to_host += own;
    if (kind != "HtoD" && kind != "DtoH") out.on_device += own;
  }
  out.to_host = std::max(0.0, out.to_host - facts.stall(rank, "save").copy_ns);
  out.on_device = std::max(out.on_device, exposed - out.to_device - out.to_host);
  return out;
}

std::vector<Finding> judge_exposed_copies(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kExposedCopies.id, [&](const RankSteps& rank) {
    return exposed_copies_exposed_of(facts, rank);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double exposed = exposed_copies_exposed_of(facts, rank);
  Finding finding = begin_finding(facts, kExposedCopies, ranks, 0, exposed);
  finding.title = {"Copies run for {} of each step while nothing computes",
                   {share(ranks.front().share)}};
  finding.measured.name = "copies while nothing computes, of the step";
  const Moves moves = moves_of(facts, rank, exposed);
  finding.detail = {"{} per step.", {nanos(exposed)}};
  if (moves.has(moves.to_device)) {
    finding.detail.form +=
        " A copy from pinned memory (as DataLoader(pin_memory=True) gives) runs beside computing "
        "if "
        "it is on a stream, a queue of GPU work, of its own and nothing waits for it.";
  }
  if (moves.has(moves.on_device)) {
    finding.detail.form +=
        " {} of the time is of copies on the GPU itself or between GPUs: tensors are put together, "
        "cloned or made contiguous, and the next work needs the result.";
    finding.detail.figures.push_back(share(moves.on_device / moves.all()));
  }
  std::size_t shown = 0;
  for (const Line& line : facts.lines("transfers", "classes", rank.rank)) {
    if (shown++ >= kMostEvidence) continue;
    finding.evidence.push_back(
        {.text =
             {"{} ({} memory): {} copies in all, of {} on average at {}, {} hidden by computing",
              {exposed_copies_words_of(line.text("kind")),
               line.has_value("host_memory") ? line.text("host_memory") : "unknown",
               count(line.number("count")),
               bytes(line.number("bytes") / std::max(1.0, line.number("count"))),
               {line.number("bytes_per_second"), base::Unit::kBytesPerSecond},
               share(line.number("hidden_share"))}},
         .rank = rank.rank});
  }
  if (moves.has(moves.on_device)) {
    finding.changes.push_back(
        {"Have results written where they are needed, and make copies of inputs once: an operator "
         "that takes out= or a slice as its output needs no copy after it.",
         "torch.mm(a, b, out=whole[:, :n])  # instead of: whole[:, :n] = torch.mm(a, b)"});
  }
  if (moves.has(moves.to_device)) {
    finding.changes.push_back(
        {"Start the copy of the next batch before this step's work, on a stream of its own: one "
         "batch more is in the GPU's memory.",
         std::string(kCopyAhead)});
  }
  if (moves.has(moves.to_host)) {
    finding.changes.push_back(
        {"Results for the CPU: copy without waiting, and read them when the copy is done.",
         "host = torch.empty_like(value, device=\"cpu\", pin_memory=True)\n"
         "host.copy_(value, non_blocking=True); done = torch.cuda.Event(); done.record()\n"
         "# a step later: done.synchronize(), then read host"});
  }
  if (finding.changes.empty()) {
    finding.changes.push_back({"See which copies these are, and which operators make them.",
                               "stepscope analyze transfers --table ops new.json"});
  }
  // The largest part first.
  if (finding.changes.size() > 1 && moves.to_host >= std::max(moves.to_device, moves.on_device)) {
    std::ranges::rotate(finding.changes, finding.changes.end() - 1);
  }
  if (moves.has(moves.on_device) && moves.has(moves.to_device) &&
      moves.to_device > moves.on_device) {
    std::swap(finding.changes[0], finding.changes[1]);
  }
  finding.verify =
      "Record again: `stepscope analyze steps --table parts new.json` shows less memcpy, and "
      "`stepscope analyze transfers --table classes --columns "
      "kind,host_memory,count,bytes,hidden_share new.json` a higher hidden_share.";
  return {finding};
}

}  // namespace

const Rule kExposedCopies{
    .id = "exposed-copies",
    .cause = "transfer",
    .asks = "Do copies run while nothing computes?",
    .needs = kExposedCopiesNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_exposed_copies,
    .reads = kExposedCopiesReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
