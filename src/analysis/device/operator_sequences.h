// Which kernels an operator starts, in the order they run: the same operator mostly starts the same
// sequence, and the exceptions are worth a look. Definition: docs/metrics/patterns.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

// Of nested ranges that match, which one counts.
enum class Roots : std::uint8_t {
  kOutermost,   // every one that no other match is around
  kShallowest,  // only those with the fewest events around them, as HTA does
};

struct SequenceChoice {
  std::string_view name_holds;  // empty: every operator
  Roots roots = Roots::kOutermost;
  std::size_t min_length = 3;  // kernels, copies and memsets
};

struct OperatorSequence {
  std::string_view op;
  std::vector<std::string_view> kernels;  // by start; copies and memsets too
  std::uint64_t count = 0;
  base::Nanos device = 0, host = 0;  // lengths, added
  base::Nanos first = 0;             // when the first of them began on the host
};

// `windows` are those of one rank. The longest on the device first.
std::vector<OperatorSequence> operator_sequences(std::span<const WindowView> windows,
                                                 const SequenceChoice& choice);

}  // namespace stepscope::analysis
