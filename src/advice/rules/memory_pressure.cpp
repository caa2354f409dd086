// The GPU's memory is nearly full: the next longer batch fails, and the allocator spends time
// making room.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "advice/rule.h"

namespace stepscope::advice {
namespace {

struct Peak {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  double held = 0, memory = 0;
  bool of_own_limit = false;  // memory is what the process may take, not what the device has
  double share() const { return memory > 0 ? held / memory : 0; }
};

// From memory events of a trace and from snapshots: a device may be in both, and by several
// snapshots.
std::vector<Peak> peaks_of(const Facts& facts) {
  std::vector<Peak> out;
  for (const Line& line : facts.lines("overview", "devices")) {
    if (line.number("peak_reserved_bytes") <= 0 || line.number("memory_bytes") <= 0) continue;
    out.push_back({static_cast<std::int32_t>(line.whole("rank")), line.whole("device"),
                   line.number("peak_reserved_bytes"), line.number("memory_bytes")});
  }
  for (const Line& line : facts.lines("memory-oom", "headroom")) {
    const bool own = line.number("own_limit_bytes") > 0;
    const double memory = line.number(own ? "own_limit_bytes" : "device_memory_bytes");
    if (memory <= 0) continue;
    out.push_back({static_cast<std::int32_t>(line.whole("rank")), line.whole("device"),
                   line.number("peak_reserved_bytes"), memory, own});
  }
  return out;
}

// The fullest first; of each device only that.
std::vector<Peak> worst_of_each_device(const Facts& facts) {
  std::vector<Peak> peaks = peaks_of(facts);
  std::ranges::stable_sort(peaks, std::ranges::greater{}, &Peak::share);
  std::set<std::pair<std::int32_t, std::int64_t>> known;
  std::erase_if(peaks,
                [&](const Peak& peak) { return !known.emplace(peak.rank, peak.device).second; });
  return peaks;
}

std::vector<Finding> judge_memory_pressure(const Facts& facts) {
  const std::vector<Peak> peaks = worst_of_each_device(facts);
  if (peaks.empty()) return {};
  const Peak& worst = peaks.front();
  const auto level = facts.level(kMemoryPressure.id, worst.share());
  if (!level) return {};
  Finding finding{.rule = kMemoryPressure.id, .cause = kMemoryPressure.cause, .level = *level};
  finding.title = {worst.of_own_limit ? "{} of the memory the process may take is held at the peak"
                                      : "GPU memory is {} full at the peak",
                   {share(worst.share())}};
  finding.measured = {"GPU memory held at the peak", worst.share(),
                      facts.threshold_of(kMemoryPressure.id, *level)};
  finding.detail = {
      worst.of_own_limit
          ? "PyTorch held {} of the {} at most that the process's own limit allows; the device has "
            "more. A longer sequence or a larger batch may not fit. Near the limit PyTorch "
            "has to give cached memory back and ask the driver again, and the GPU waits meanwhile."
          : "PyTorch held {} of {}. A longer sequence or a larger batch may not fit. Near the "
            "limit "
            "PyTorch has to give cached memory back and ask the driver again, and the GPU waits "
            "meanwhile.",
      {bytes(worst.held), bytes(worst.memory)}};
  finding.detail.form +=
      " A training whose sizes do not grow may well go on like this: the changes below cost time, "
      "and are for one that fails, or is to have larger batches.";
  for (const Peak& peak : peaks) {
    if (!facts.level(kMemoryPressure.id, peak.share())) continue;
    if (finding.evidence.size() < kMostEvidence) {
      finding.evidence.push_back({.text = {"device {}: {} of {} held",
                                           {{static_cast<double>(peak.device), base::Unit::kId},
                                            bytes(peak.held),
                                            bytes(peak.memory)}},
                                  .rank = peak.rank});
    }
    if (std::ranges::find(finding.ranks, peak.rank) == finding.ranks.end()) {
      finding.ranks.push_back(peak.rank);
    }
  }
  finding.changes = {
      {"If nothing fails and nothing is to grow: change nothing. Else find out first what holds "
       "the "
       "memory: a snapshot names it, by the lines of your program.",
       "torch.cuda.memory._record_memory_history()  # before the loop\n"
       "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")  # after a few steps\n"
       "# then: stepscope memory snapshot.pickle"},
      {"Compute activations again in the backward pass instead of keeping them: costs about a "
       "third more time.",
       facts.by_framework("from torch.utils.checkpoint import checkpoint\n"
                          "x = checkpoint(block, x, use_reentrant=False)",
                          "from torch.utils.checkpoint import checkpoint\n"
                          "x = checkpoint(self.block, x, use_reentrant=False)",
                          "TrainingArguments(..., gradient_checkpointing=True)")},
      {"A quarter of the batch at a time, and an update after four of them: the same gradients, "
       "but "
       "for batch norms.",
       facts.by_framework("loader = DataLoader(dataset, batch_size=batch_size // 4, ...)\n"
                          "(loss / 4).backward()  # in the loop, for each part\n"
                          "if i % 4 == 3: optimizer.step(); optimizer.zero_grad()",
                          "DataLoader(self.dataset, batch_size=batch_size // 4, ...)\n"
                          "Trainer(..., accumulate_grad_batches=4)",
                          "TrainingArguments(..., per_device_train_batch_size=batch // 4, "
                          "gradient_accumulation_steps=4)")}};
  if (worst.of_own_limit) {
    finding.changes.insert(
        finding.changes.begin(),
        {"Let the process take more: the device has memory that it may not use.",
         "torch.cuda.set_per_process_memory_fraction(1.0)   # where it is set now, or drop "
         "per_process_memory_fraction from PYTORCH_CUDA_ALLOC_CONF"});
  }
  finding.verify = fmt::format(
      "print(torch.cuda.max_memory_reserved() / 2**30) after a few steps is below {:.1f}, what "
      "is held now.",
      worst.held / static_cast<double>(std::uint64_t{1} << 30));
  finding.confidence = Confidence::kHigh;
  return {finding};
}

std::string why_not_memory_pressure(const Facts& facts) {
  return peaks_of(facts).empty()
             ? "Neither the peak nor the size of the GPU's memory was recorded; the "
               "size can be said with --device-memory 80GiB"
             : std::string();
}

}  // namespace

const Rule kMemoryPressure{
    .id = "memory-pressure",
    .cause = "memory",
    .asks = "Is the GPU's memory nearly full?",
    .needs = {},
    .wanted = Wanted::kMemory,
    .judge = judge_memory_pressure,
    .why_not = why_not_memory_pressure,
    .of_device = false,
};

}  // namespace stepscope::advice
