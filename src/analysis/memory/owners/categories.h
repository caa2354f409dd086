// What each allocation holds: what the process wrote down beside its snapshot, else known from
// stacks, order and lifetimes alone. What they do not tell is unknown and is called so. Rules and
// measured accuracy: docs/metrics/memory-categories.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "analysis/memory/owners/passes.h"
#include "base/units.h"

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

// What blocks hold that are older than the history and have no stack, found by counting: every
// gradient is made anew in the history and has the size of its parameter, and an optimizer keeps a
// known number of tensors per parameter. Where the blocks of every size are exactly as many as that
// needs, the bytes of each kind are known; where not, nothing is said.
// Definitions: docs/metrics/memory-categories.md.

enum class OlderKind : std::uint8_t { kUnknown, kParameter, kState };

struct OlderBlocks {
  std::vector<OlderKind> kind;      // by life, of those that are older
  std::vector<base::Bytes> sizes;   // of the parameters, ascending, each once
  std::uint32_t per_parameter = 0;  // blocks: 1 is the parameter alone; 0: nothing is known
};

OlderBlocks count_older(const memory::Snapshot& snapshot, const Allocations& allocations,
                        const Passes& passes, std::span<const StackSign> signs);

// What torch sets aside for cuBLAS and cuBLASLt, unless set otherwise.

inline bool is_workspace_size(base::Bytes size) {
  constexpr std::array<base::Bytes, 3> kSizes = {32 << 20, 8519680, 1 << 20};
  return std::ranges::find(kSizes, size) != kSizes.end();
}

}  // namespace stepscope::analysis
