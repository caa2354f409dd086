// A rule is a pure function over the answers of the analyses it needs, plus the row that describes
// it. One file per rule; registry.cpp lists them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

// A table without rows is as good as none: the rule says why it could not judge.
struct Need {
  std::string_view analysis, table;
};

// Why a rule could not judge what only stepscope's own recorder notes.
inline constexpr std::string_view kNotByStepscope =
    "Nothing is noted of the garbage collector and the processors, as stepscope's recorder does "
    "beside a trace";

// A finding shows so much evidence and no more, in every form: the first is the worst.
inline constexpr std::size_t kMostEvidence = 3;

struct Rule {
  std::string_view id;     // "input-bound"; docs/advice/input-bound.md
  std::string_view cause;  // "input"
  std::string_view asks;   // "Does the GPU wait for the data loader?"
  std::span<const Need> needs;
  Wanted wanted;  // to be recorded where it could not judge
  std::vector<Finding> (*judge)(const Facts& facts);
  // A reason beyond missing tables; may be null.
  std::string (*why_not)(const Facts& facts) = nullptr;
  // False: it also judges a recording of the host alone.
  bool of_device = true;
  // Analyses it reads besides: what they do not have is no reason not to judge.
  std::span<const std::string_view> reads = {};
  // Its waits let the device run dry, and what the host loses then looks like slow launching.
  bool runs_dry = true;
  // Tables that do where those it needs are not there: of a run without a trace.
  std::span<const Need> instead = {};
  // Its findings say themselves what their bounds hold.
  bool says_bounds = false;
  // How it stands to other rules. What lets a device run dry brings about waits that look like slow
  // launching: such a rule takes what is left of them.
  bool takes_what_is_left = false;
  // Rules whose findings its cure may take away, in part or all: those stand below it as far as
  // what it may bring explains them.
  std::span<const std::string_view> explains = {};
  // Waits for launches that are counted in its findings, per step; may be null.
  double (*counted_launching_ns)(const Facts& facts, const RankSteps& rank) = nullptr;
};
const Rule* find_rule(std::string_view id);

// Every rule, those about time first.
std::span<const Rule* const> rules();

extern const Rule kInputBound;
extern const Rule kSlowTransfers;
extern const Rule kLaunchBound;
extern const Rule kHostSync;
extern const Rule kPrecision;
extern const Rule kAllocatorChurn;
extern const Rule kCheckpointStall;
extern const Rule kHostData;
extern const Rule kCpuOptimizer;
extern const Rule kLoggedTensors;
extern const Rule kCompiling;
extern const Rule kAnomalyMode;
extern const Rule kBlockingLaunches;
extern const Rule kHostPause;
extern const Rule kUnnamedTime;
extern const Rule kLoopWork;
extern const Rule kOperatorOverhead;
extern const Rule kEvaluation;
extern const Rule kGarbageCollector;
extern const Rule kCpuContention;
extern const Rule kAutotuning;
extern const Rule kUnfusedOptimizer;
extern const Rule kGpuIdle;
extern const Rule kExposedCommunication;
extern const Rule kGlooOnGpu;
extern const Rule kDataParallel;
extern const Rule kExposedCopies;
extern const Rule kLowOccupancy;
extern const Rule kSmallBatch;
extern const Rule kUnfusedAttention;
extern const Rule kUnfusedChains;
extern const Rule kRecompute;
extern const Rule kOddShapes;
extern const Rule kChannelsLast;
extern const Rule kOutlierSteps;
extern const Rule kProfilerOverhead;
extern const Rule kFewSteps;
extern const Rule kMemoryPressure;
extern const Rule kMemoryLeak;
extern const Rule kMemoryFragmentation;
extern const Rule kMemoryOom;

// The page of a rule as it stands in docs/advice; the build puts them into the program.

struct RulePage {
  std::string_view rule, markdown;
};
extern const RulePage kRulePages[];
extern const std::size_t kRulePageCount;

// Empty where there is none.
std::string_view rule_page(std::string_view rule);

// A training loop that copies its next batch while this one is computed on: the code that two rules
// advise. record_stream keeps the memory of a batch until the work on it is done.

inline constexpr std::string_view kCopyAhead =
    "copy_stream = torch.cuda.Stream()\n"
    "def on_gpu(batch):  # batches of a DataLoader with pin_memory=True\n"
    "    with torch.cuda.stream(copy_stream):\n"
    "        return [part.to(device, non_blocking=True) for part in batch]\n"
    "batches = iter(loader)\n"
    "ahead = on_gpu(next(batches))\n"
    "while ahead is not None:\n"
    "    torch.cuda.current_stream().wait_stream(copy_stream)  # its copy is done\n"
    "    x, y = ahead\n"
    "    for part in ahead: part.record_stream(torch.cuda.current_stream())  # still in use\n"
    "    batch = next(batches, None)\n"
    "    ahead = None if batch is None else on_gpu(batch)\n"
    "    train_step(x, y)  # runs while the next batch is copied";

}  // namespace stepscope::advice
