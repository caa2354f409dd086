// What every operator call cost on the host. Definitions: docs/metrics/operators.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/operators/op_calls.h"
#include "base/column.h"

namespace stepscope::analysis {

// By OpCalls::calls.
struct OpHostTimes {
  base::Column<base::Nanos> self;     // without the operators it called
  base::Column<base::Nanos> runtime;  // of self: in its own calls into the runtime or driver
};
OpHostTimes op_host_times(const trace::Trace& trace, const OpCalls& calls);

// Which calls have no call with the same key around them, so that totals of a key count nested
// calls once. One key per call, smaller than `keys`.
std::vector<bool> outermost(const OpCalls& calls, std::span<const std::uint32_t> key,
                            std::size_t keys);

}  // namespace stepscope::analysis
