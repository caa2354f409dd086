// Copies run while nothing computes, from memory that is pinned: fast as they are, they could run
// beside computing.
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

struct Moves {
  bool to_device = false, to_host = false;
};

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
  finding.detail = {
      "{} per step. A copy from pinned memory (as DataLoader(pin_memory=True) gives) runs beside "
      "computing if it is on a stream, a queue of GPU work, of its own and nothing waits for it.",
      {nanos(exposed)}};
  std::size_t shown = 0;
  Moves moves;
  for (const Line& line : facts.lines("transfers", "classes", rank.rank)) {
    moves.to_device |= line.text("kind") == "HtoD";
    moves.to_host |= line.text("kind") == "DtoH";
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
  if (moves.to_device) {
    finding.changes.push_back(
        {"Start the copy of the next batch before this step's work, on a stream of its own: one "
         "batch more is in the GPU's memory.",
         std::string(kCopyAhead)});
  }
  if (moves.to_host || !moves.to_device) {
    finding.changes.push_back(
        {"Results for the CPU: copy without waiting, and read them when the copy is done.",
         "host = torch.empty_like(value, device=\"cpu\", pin_memory=True)\n"
         "host.copy_(value, non_blocking=True); done = torch.cuda.Event(); done.record()\n"
         "# a step later: done.synchronize(), then read host"});
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
