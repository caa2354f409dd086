#include <array>

#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kRules = {
    &kInputBound,          &kSlowTransfers,    &kHostSync,
    &kLaunchBound,         &kPrecision,        &kAllocatorChurn,
    &kCheckpointStall,     &kUnfusedOptimizer, &kGpuIdle,
    &kMemoryPressure,      &kMemoryOom,        &kMemoryLeak,
    &kMemoryFragmentation,
};

}  // namespace

std::span<const Rule* const> rules() { return kRules; }

}  // namespace stepscope::advice
