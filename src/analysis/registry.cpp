// The table of all analyses.
#include "analysis/registry.h"

#include <algorithm>
#include <array>

namespace stepscope::analysis {
namespace {

constexpr std::array kAnalyses = {
    &kOverview,
    &kProgram,
    &kTime,
    &kLog,
    &kThroughput,
    &kLoader,
    &kModel,
    &kSystem,
    &kEnergy,
    &kSteps,
    &kDataloader,
    &kTemporalBreakdown,
    &kIdleTime,
    &kCpu,
    &kStallsAnalysis,
    &kHostWork,
    &kKernelTypes,
    &kOperators,
    &kKernels,
    &kKernelDurations,
    &kRoofline,
    &kMfu,
    &kOverlap,
    &kAnnotations,
    &kModules,
    &kStacks,
    &kLoop,
    &kPatterns,
    &kAttentionAnalysis,
    &kAutotuning,
    &kCounters,
    &kLaunches,
    &kQueueLength,
    &kMemoryBandwidth,
    &kTransfers,
    &kStepsTensorflow,
    &kMemoryOperators,
    &kMemorySummary,
    &kMemoryTimeline,
    &kMemoryPeak,
    &kMemoryAllocations,
    &kMemoryDiff,
    &kMemoryOom,
    &kMemoryLeaks,
    &kMemoryFragmentation,
    &kMemoryEvents,
};

}  // namespace

std::span<const Analysis* const> analyses() { return kAnalyses; }

const Analysis* find_analysis(std::string_view name) {
  const auto* found = std::ranges::find(kAnalyses, name, &Analysis::name);
  return found == kAnalyses.end() ? nullptr : *found;
}

}  // namespace stepscope::analysis
