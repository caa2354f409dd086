// The table of all thresholds.
#include "advice/thresholds.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

namespace stepscope::advice {
namespace {

using base::Unit;

constexpr std::string_view kInput = "input-bound";
constexpr std::string_view kTransfer = "slow-transfers";
constexpr std::string_view kLaunch = "launch-bound";
constexpr std::string_view kSync = "host-sync";
constexpr std::string_view kPrecision = "precision";
constexpr std::string_view kAllocator = "allocator-churn";
constexpr std::string_view kStall = "checkpoint-stall";
constexpr std::string_view kPause = "host-pause";
constexpr std::string_view kMadeByHost = "host-data";
constexpr std::string_view kOnCpu = "cpu-optimizer";
constexpr std::string_view kLogged = "logged-tensors";
constexpr std::string_view kCompiled = "compiling";
constexpr std::string_view kAnomaly = "anomaly-mode";
constexpr std::string_view kBlocking = "blocking-launches";
constexpr std::string_view kUnnamed = "unnamed-time";
constexpr std::string_view kCalls = "operator-overhead";
constexpr std::string_view kEvaluates = "evaluation";
constexpr std::string_view kLoopParts = "loop-work";
constexpr std::string_view kOptimizer = "unfused-optimizer";
constexpr std::string_view kIdle = "gpu-idle";
constexpr std::string_view kThresholdsTalk = "exposed-communication";
constexpr std::string_view kGloo = "gloo-on-gpu";
constexpr std::string_view kCopies = "exposed-copies";
constexpr std::string_view kOccupancy = "low-occupancy";
constexpr std::string_view kBatch = "small-batch";
constexpr std::string_view kAttention = "unfused-attention";
constexpr std::string_view kChains = "unfused-chains";
constexpr std::string_view kTwice = "recompute";
constexpr std::string_view kShapes = "odd-shapes";
constexpr std::string_view kLayout = "channels-last";
constexpr std::string_view kSearches = "cudnn-autotuning";
constexpr std::string_view kOutliers = "outlier-steps";
constexpr std::string_view kOverhead = "profiler-overhead";
constexpr std::string_view kFew = "few-steps";
constexpr std::string_view kCollector = "garbage-collector";
constexpr std::string_view kCrowd = "cpu-contention";
constexpr std::string_view kPressure = "memory-pressure";
constexpr std::string_view kLeak = "memory-leak";
constexpr std::string_view kPieces = "memory-fragmentation";

constexpr std::array kTable = std::to_array<Threshold>({
    {kInput, "notice", 0.05, Unit::kShare,
     "of the step, the GPU idle while the loop waits for data"},
    {kInput, "warning", 0.10, Unit::kShare, "the same"},
    {kInput, "critical", 0.20, Unit::kShare, "the same"},
    {kInput, "crowding", 0.20, Unit::kShare,
     "beside workers the rest of the step becomes slower by at most so much: the lower bound"},
    {kTransfer, "notice", 0.05, Unit::kShare,
     "of the step, copies from pageable memory while nothing computes, and waiting for them"},
    {kTransfer, "warning", 0.10, Unit::kShare, "the same"},
    {kTransfer, "critical", 0.30, Unit::kShare, "the same"},
    {kTransfer, "pinned_speedup", 2.0, Unit::kNone,
     "copies from pinned memory are at least so many times as fast"},
    {kTransfer, "small_copy", 65536, Unit::kBytes, "a copy of the median size below this is small"},
    {kTransfer, "small_copies", 32, Unit::kCount,
     "so many small copies to the GPU per step are many"},
    {kLaunch, "notice", 0.05, Unit::kShare,
     "of the step, the GPU idle while the CPU launches work, less what recording usually adds"},
    {kLaunch, "warning", 0.20, Unit::kShare, "the same, less what recording is estimated to cost"},
    {kLaunch, "critical", 0.50, Unit::kShare, "the same"},
    {kLaunch, "single", 10'000'000, Unit::kNanos,
     "a wait of this length that came once is no launch: something starts, loads or compiles"},
    {kSync, "notice", 0.03, Unit::kShare,
     "of the step, the GPU idle because the CPU waited for it or launched selections"},
    {kSync, "warning", 0.10, Unit::kShare, "the same"},
    {kSync, "critical", 0.30, Unit::kShare, "the same"},
    {kPrecision, "notice", 0.10, Unit::kShare,
     "of the step, matrix products that do not use tensor cores"},
    {kPrecision, "warning", 0.25, Unit::kShare, "the same"},
    {kPrecision, "critical", 0.50, Unit::kShare, "the same"},
    {kPrecision, "tf32_speedup", 4.0, Unit::kNone,
     "tensor cores are at least so many times as fast: the lower bound"},
    {kPrecision, "half_speedup", 16.0, Unit::kNone, "and at most so many times: the upper bound"},
    {kAllocator, "notice", 0.03, Unit::kShare,
     "of the step, the GPU idle while the CPU takes or returns memory"},
    {kAllocator, "warning", 0.10, Unit::kShare, "the same"},
    {kAllocator, "critical", 0.30, Unit::kShare, "the same"},
    {kAllocator, "steps", 0.5, Unit::kShare, "of the steps after the first have such calls"},
    {kAllocator, "uncached", 0.1, Unit::kNone,
     "calls that take memory, for each piece of GPU work: so many where nothing is kept"},
    {kStall, "notice", 0.05, Unit::kShare, "of the time of all steps, saving checkpoints"},
    {kStall, "warning", 0.10, Unit::kShare, "the same"},
    {kStall, "critical", 0.30, Unit::kShare, "the same"},
    {kPause, "notice", 0.05, Unit::kShare,
     "of the time of all steps, the GPU idle while nothing was recorded on the CPU"},
    {kPause, "warning", 0.10, Unit::kShare, "the same"},
    {kPause, "critical", 0.30, Unit::kShare, "the same"},
    {kPause, "pause", 0.20, Unit::kShare,
     "of the median step: a shorter pause counts only where every other step has one"},
    {kMadeByHost, "notice", 0.05, Unit::kShare,
     "of the step, the GPU idle while the CPU prepares data in the loop"},
    {kMadeByHost, "warning", 0.10, Unit::kShare, "the same"},
    {kMadeByHost, "critical", 0.20, Unit::kShare, "the same"},
    {kOnCpu, "notice", 0.05, Unit::kShare,
     "of the step, an optimizer on the CPU and its copies, while nothing computes"},
    {kOnCpu, "warning", 0.10, Unit::kShare, "the same"},
    {kOnCpu, "critical", 0.30, Unit::kShare, "the same"},
    {kLogged, "notice", 0.05, Unit::kShare,
     "of the time of all steps, tensors copied to the CPU and worked on, while nothing computes"},
    {kLogged, "warning", 0.10, Unit::kShare, "the same"},
    {kLogged, "critical", 0.30, Unit::kShare, "the same"},
    {kCompiled, "notice", 0.05, Unit::kShare,
     "of the time of all steps, the GPU idle while code is compiled or loaded"},
    {kCompiled, "warning", 0.10, Unit::kShare, "the same"},
    {kCompiled, "critical", 0.30, Unit::kShare, "the same"},
    {kAnomaly, "notice", 0.03, Unit::kShare,
     "of the step, the GPU idle in the checks of anomaly mode and in launching"},
    {kAnomaly, "warning", 0.10, Unit::kShare, "the same"},
    {kAnomaly, "critical", 0.30, Unit::kShare, "the same"},
    {kAnomaly, "checked", 0.5, Unit::kShare, "of the backward pass's nodes are searched for NaN"},
    {kBlocking, "notice", 0.05, Unit::kShare,
     "of the step, the GPU idle while the CPU launches work"},
    {kBlocking, "warning", 0.10, Unit::kShare, "the same"},
    {kBlocking, "critical", 0.30, Unit::kShare, "the same"},
    {kBlocking, "held", 0.95, Unit::kShare,
     "of the launches of kernels of 10 µs or more return after the kernel's end"},
    {kBlocking, "launches", 20, Unit::kCount, "fewer such launches say nothing"},
    {kUnnamed, "notice", 0.20, Unit::kShare,
     "of the step, no operator, no named range and no wait for data; on the CPU alone"},
    {kUnnamed, "warning", 0.50, Unit::kShare, "the same"},
    {kUnnamed, "critical", 1.0, Unit::kShare, "the same; never reached, since nothing is sure"},
    {kUnnamed, "pause", 0.05, Unit::kShare,
     "of the step, the longest stretch: then it surely stands still"},
    {kCalls, "notice", 0.30, Unit::kShare,
     "of the step, operators and gaps between them too short for any arithmetic; on the CPU alone"},
    {kCalls, "warning", 0.50, Unit::kShare, "the same"},
    {kCalls, "critical", 1.0, Unit::kShare,
     "the same; never reached, since how much of it can go is not known"},
    {kCalls, "operators", 100, Unit::kCount, "fewer per step are no loop over small ones"},
    {kEvaluates, "notice", 0.10, Unit::kShare,
     "of the step, operators of a model without gradients; on the CPU alone"},
    {kEvaluates, "warning", 0.20, Unit::kShare, "the same"},
    {kEvaluates, "critical", 0.50, Unit::kShare, "the same, of the model that learns"},
    {kLoopParts, "notice", 0.05, Unit::kShare,
     "of the step, one callback or one named range without operators; on the CPU alone"},
    {kLoopParts, "warning", 0.15, Unit::kShare, "the same"},
    {kLoopParts, "critical", 0.40, Unit::kShare, "the same"},
    {kOptimizer, "notice", 0.05, Unit::kShare,
     "of the step, the GPU idle while the optimizer launches its work"},
    {kOptimizer, "warning", 0.10, Unit::kShare, "the same"},
    {kOptimizer, "critical", 0.40, Unit::kShare, "the same"},
    {kOptimizer, "kernels", 100, Unit::kCount, "so many kernels per optimizer step are many"},
    {kOptimizer, "kernel", 20'000, Unit::kNanos, "and are small, if the mean one is shorter"},
    {kIdle, "notice", 0.10, Unit::kShare,
     "of the step, the GPU idle for a reason that no other rule looks for"},
    {kIdle, "warning", 0.25, Unit::kShare, "the same"},
    {kIdle, "critical", 1.0, Unit::kShare, "the same; never reached, since nothing is sure"},
    {kIdle, "kernel", 2'000, Unit::kNanos,
     "of each kernel, starting and ending it takes the GPU at most so long: the upper bound, where "
     "kernels are too short"},
    {kIdle, "stops", 5, Unit::kCount,
     "so many stops of one length of the GPU with work in its queue: it is shared"},
    {kIdle, "alike", 0.50, Unit::kShare,
     "of all stops have that length, and not more of them are at the same work"},
    {kIdle, "pace", 0.40, Unit::kShare, "of the times between stops are alike"},
    {kIdle, "steps", 0.5, Unit::kShare, "of the steps after the first have launches that are held"},
    {kThresholdsTalk, "notice", 0.1, Unit::kShare,
     "of the step, communication while nothing computes"},
    {kThresholdsTalk, "warning", 0.25, Unit::kShare, "the same"},
    {kThresholdsTalk, "critical", 1.0, Unit::kShare, "the same"},
    {kGloo, "notice", 0.05, Unit::kShare, "of the step, gloo communicates while no GPU computes"},
    {kGloo, "warning", 0.1, Unit::kShare, "the same"},
    {kGloo, "critical", 1.0, Unit::kShare, "the same"},
    {kCopies, "notice", 0.05, Unit::kShare,
     "of the step, copies from pinned memory or to the CPU while nothing computes"},
    {kCopies, "warning", 0.1, Unit::kShare, "the same"},
    {kCopies, "critical", 0.3, Unit::kShare, "the same"},
    {kOccupancy, "notice", 0.1, Unit::kShare,
     "of the step, kernels with blocks for less than half of the GPU"},
    {kOccupancy, "warning", 1.0, Unit::kShare, "the same"},
    {kOccupancy, "critical", 1.0, Unit::kShare, "the same"},
    {kOccupancy, "blocks", 0.5, Unit::kNone, "blocks for each multiprocessor; fewer are few"},
    {kBatch, "notice", 0.05, Unit::kShare, "of the step, the GPU idle while the CPU launches work"},
    {kBatch, "warning", 1.0, Unit::kShare, "the same"},
    {kBatch, "critical", 1.0, Unit::kShare, "the same"},
    {kBatch, "memory", 0.50, Unit::kShare, "and less of the GPU's memory is in use at the peak"},
    {kAttention, "notice", 0.05, Unit::kShare,
     "of the step, softmax of attention and what is between its products"},
    {kAttention, "warning", 0.10, Unit::kShare, "the same"},
    {kAttention, "critical", 0.40, Unit::kShare, "the same"},
    {kAttention, "again", 0.25, Unit::kShare,
     "of its products are computed twice by one kernel: the lower bound"},
    {kAttention, "faster", 0.75, Unit::kShare,
     "of its products are saved, where one kernel does them faster: the upper bound"},
    {kChains, "notice", 0.08, Unit::kShare,
     "of the step, consecutive elementwise kernels and the sums between them, less the longest of "
     "each chain"},
    {kChains, "warning", 0.15, Unit::kShare, "the same"},
    {kChains, "critical", 1.0, Unit::kShare, "the same"},
    {kChains, "launches", 0.25, Unit::kShare,
     "of the launches of a step are such chains, where the GPU waits for launches"},
    {kTwice, "notice", 0.05, Unit::kShare,
     "of the step, kernels of the forward pass that run again in the backward pass"},
    {kTwice, "warning", 0.10, Unit::kShare, "the same, and memory is known to be free"},
    {kTwice, "critical", 1.0, Unit::kShare, "the same"},
    {kTwice, "memory", 0.70, Unit::kShare, "and less of the GPU's memory is in use at the peak"},
    {kShapes, "notice", 0.1, Unit::kShare,
     "of the step, 16-bit matrix products and convolutions with sizes that are no multiples of 8"},
    {kShapes, "warning", 0.15, Unit::kShare, "the same, and as much would be gained for sure"},
    {kShapes, "critical", 0.40, Unit::kShare, "the same"},
    {kLayout, "notice", 0.05, Unit::kShare,
     "of the step, kernels that only turn tensors round for convolutions"},
    {kLayout, "warning", 0.10, Unit::kShare, "the same"},
    {kLayout, "critical", 0.30, Unit::kShare, "the same"},
    {kLayout, "left", 0.20, Unit::kShare, "so much of it may be left: the lower bound"},
    {kSearches, "notice", 0.05, Unit::kShare,
     "of the time of all steps, searches for the fastest convolution"},
    {kSearches, "warning", 0.10, Unit::kShare, "the same"},
    {kSearches, "critical", 0.30, Unit::kShare, "the same"},
    {kOutliers, "notice", 0.05, Unit::kShare,
     "of all steps, what slow steps are longer than usual"},
    {kOutliers, "warning", 1.0, Unit::kShare, "the same"},
    {kOutliers, "critical", 1.0, Unit::kShare, "the same"},
    {kOutliers, "steps", 6, Unit::kCount, "fewer, or fewer than 6, have no outliers"},
    {kOverhead, "notice", 0.1, Unit::kShare,
     "of the step, the GPU idle while the CPU launches work"},
    {kOverhead, "warning", 1.0, Unit::kShare, "the same"},
    {kOverhead, "critical", 1.0, Unit::kShare, "the same"},
    {kFew, "error", 0.40, Unit::kShare, "of the typical step: half of its 95 % interval"},
    {kCollector, "notice", 0.03, Unit::kShare,
     "of the time of all steps, the GPU idle while the garbage collector runs"},
    {kCollector, "warning", 0.10, Unit::kShare, "the same"},
    {kCollector, "critical", 0.30, Unit::kShare, "the same"},
    {kCrowd, "notice", 0.05, Unit::kShare,
     "of the step, the training thread waits for a processor and no GPU hides it"},
    {kCrowd, "warning", 0.15, Unit::kShare, "the same"},
    {kCrowd, "critical", 1.0, Unit::kShare, "the same; never reached, since it is a bound"},
    {kCrowd, "full", 0.80, Unit::kShare,
     "of the processors busy: by the job, of those it may use, or by all, of the machine's"},
    {kCrowd, "others", 0.25, Unit::kShare,
     "of the machine's processors, kept busy by others: then they are to blame"},
    {kPressure, "notice", 0.85, Unit::kShare, "of the GPU's memory, held at the peak"},
    {kPressure, "warning", 0.92, Unit::kShare, "the same"},
    {kPressure, "critical", 0.97, Unit::kShare, "the same"},
    {kLeak, "critical_steps", 1000, Unit::kCount, "fewer steps until the memory is full"},
    {kPieces, "notice", 0.05, Unit::kShare,
     "of the memory held at the peak, another allocator setting would save"},
    {kPieces, "warning", 0.15, Unit::kShare, "the same"},
    {kPieces, "critical", 0.40, Unit::kShare, "the same"},
    {kPieces, "least", 67108864, Unit::kBytes, "less than this is not worth a setting"},
});

}  // namespace

std::span<const Threshold> thresholds() { return kTable; }

const Threshold* find_threshold(std::string_view rule, std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kTable, [&](const Threshold& one) { return one.rule == rule && one.name == name; });
  return found == kTable.end() ? nullptr : found;
}

double value_of(std::string_view rule, std::string_view name, const OwnThresholds& own) {
  const auto set = own.find(std::string(rule) + "." + std::string(name));
  if (set != own.end()) return set->second;
  const Threshold* standard = find_threshold(rule, name);
  assert(standard != nullptr && "a rule asks for a threshold that is not in the table");
  return standard == nullptr ? std::numeric_limits<double>::quiet_NaN() : standard->default_value;
}

}  // namespace stepscope::advice
