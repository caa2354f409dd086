#include "advice/thresholds.h"

#include <algorithm>
#include <array>

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
constexpr std::string_view kOptimizer = "unfused-optimizer";
constexpr std::string_view kIdle = "gpu-idle";
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
     "of the step, the GPU idle while the host launches work"},
    {kLaunch, "warning", 0.20, Unit::kShare, "the same"},
    {kLaunch, "critical", 0.50, Unit::kShare, "the same"},
    {kSync, "notice", 0.03, Unit::kShare,
     "of the step, the GPU idle because the host waited for it"},
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
     "of the step, the GPU idle while the host takes or returns memory"},
    {kAllocator, "warning", 0.10, Unit::kShare, "the same"},
    {kAllocator, "critical", 0.30, Unit::kShare, "the same"},
    {kAllocator, "steps", 0.5, Unit::kShare, "of the steps after the first have such calls"},
    {kStall, "notice", 0.05, Unit::kShare, "of the time of all steps, saving and long pauses"},
    {kStall, "warning", 0.10, Unit::kShare, "the same"},
    {kStall, "critical", 0.30, Unit::kShare, "the same"},
    {kStall, "pause", 0.20, Unit::kShare, "of the median step: a shorter pause is not one"},
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
  return standard == nullptr ? 0 : standard->standard;
}

}  // namespace stepscope::advice
