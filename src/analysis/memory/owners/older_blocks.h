// What blocks hold that are older than the history and have no stack, told by counting: every
// gradient is made anew in the history and has the size of its parameter, and an optimizer keeps a
// known number of tensors per parameter. Where the blocks of every size are exactly as many as that
// needs, the bytes of each kind are known; where not, nothing is said.
// Definitions: docs/metrics/memory-categories.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "analysis/memory/owners/passes.h"
#include "analysis/memory/owners/stack_signs.h"

namespace stepscope::analysis {

enum class OlderKind : std::uint8_t { kUnknown, kParameter, kState };

struct OlderBlocks {
  std::vector<OlderKind> kind;      // by life, of those that are older
  std::vector<base::Bytes> sizes;   // of the parameters, ascending, each once
  std::uint32_t per_parameter = 0;  // blocks: 1 is the parameter alone; 0: nothing is told
};

OlderBlocks count_older(const memory::Snapshot& snapshot, const Allocations& allocations,
                        const Passes& passes, std::span<const StackSign> signs);

}  // namespace stepscope::analysis
