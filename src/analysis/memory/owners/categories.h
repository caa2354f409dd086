// What each allocation holds: what the process wrote down beside its snapshot, else told from
// stacks, order and lifetimes alone. What they do not tell is unknown and is called so. Rules and
// measured accuracy: docs/metrics/memory-categories.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "analysis/memory/owners/passes.h"

namespace stepscope::analysis {

// In the order they are stacked: what stays at the bottom, what comes and goes on top.
enum class Category : std::uint8_t {
  kParameters,
  kOptimizerState,
  kGradients,
  kActivations,
  kInputs,
  kTemporaries,
  kAutogradDetail,
  kCommunication,
  kUnknown,
  kCount
};
inline constexpr std::size_t kCategories = static_cast<std::size_t>(Category::kCount);
std::string_view name_of(Category category);  // "optimizer state"

// Why: the rule that decided.
enum class Reason : std::uint8_t {
  kMadeWithModule,
  kMadeByOptimizer,
  kOutlivedOptimizer,
  kFreedByOptimizer,
  kOutlivedBackward,
  kFreedInBackward,
  kFreedAtOnce,
  kNoParametersSize,
  kUsedByBackward,
  kFreedBeforeBackward,
  kForwardUnfinished,
  kBatch,
  kUsedByForward,
  kWorkspace,
  kCollective,
  kFreedSoon,
  kOlder,
  kOfGradientsSize,
  kOneOfEqualSize,
  kNoStacks,
  kNothingTells,
  kWrittenDown,
  kCount
};
std::string_view text_of(Reason reason);

struct Categories {
  std::vector<Category> category;  // by life
  std::vector<Reason> reason;      // by life
  Passes passes;
};

Categories categorise(const memory::Snapshot& snapshot, const memory::History& history,
                      const Allocations& allocations);

}  // namespace stepscope::analysis
