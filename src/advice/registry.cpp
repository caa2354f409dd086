// The list of all rules.
#include <algorithm>
#include <array>

#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kRules = {
    &kInputBound,
    &kSlowTransfers,
    &kHostSync,
    &kLaunchBound,
    &kPrecision,
    &kAllocatorChurn,
    &kCheckpointStall,
    &kHostData,
    &kCpuOptimizer,
    &kLoggedTensors,
    &kCompiling,
    &kAnomalyMode,
    &kBlockingLaunches,
    &kHostPause,
    &kUnnamedTime,
    &kLoopWork,
    &kOperatorOverhead,
    &kEvaluation,
    &kUnfusedOptimizer,
    &kGpuIdle,
    &kExposedCommunication,
    &kGlooOnGpu,
    &kDataParallel,
    &kExposedCopies,
    &kLowOccupancy,
    &kSmallBatch,
    &kUnfusedAttention,
    &kUnfusedChains,
    &kRecompute,
    &kOddShapes,
    &kChannelsLast,
    &kAutotuning,
    &kOutlierSteps,
    &kProfilerOverhead,
    &kFewSteps,
    &kGarbageCollector,
    &kCpuContention,
    &kMemoryPressure,
    &kMemoryOom,
    &kMemoryLeak,
    &kMemoryFragmentation,
};

}  // namespace

std::span<const Rule* const> rules() { return kRules; }

const Rule* find_rule(std::string_view id) {
  const auto* const found = std::ranges::find(kRules, id, &Rule::id);
  return found == kRules.end() ? nullptr : *found;
}

}  // namespace stepscope::advice
