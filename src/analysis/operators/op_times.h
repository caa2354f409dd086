// What every operator call cost: on the host and, through what it launched, on the device.
// Annotations are not operators. Definitions: docs/metrics/operators.md.
//
// It is one linear pass, but several analyses of one report start from it: it is made when the
// first of them asks and kept in the window's view.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

struct OpCall {
  static constexpr std::uint32_t kNone = 0xffffffff;
  trace::Row row = trace::kNoRow;
  std::uint32_t parent = kNone;  // index of the operator call around it on its thread

  base::Nanos host_total = 0;  // from its start to its end
  base::Nanos host_self = 0;   // without the operators it called
  base::Nanos runtime = 0;     // of host_self: in its own calls into the runtime or driver

  // Sums of the lengths of counted device work: launched by itself, or also by operators below it.
  base::Nanos device_self = 0, device_total = 0;

  bool counted = true;  // began in a step that was asked for: its host time and calls count
};

struct OpTimes {
  base::RowSet rows;                        // operators of the trace
  std::vector<OpCall> calls;                // in order of rows: a parent before its children
  std::vector<std::uint32_t> call_of_work;  // by WindowView::work: into calls, or OpCall::kNone

  // The call of an operator's row, or kNone.
  std::uint32_t find(trace::Row row) const { return rows.find(row); }
};

// Made once per window. Work that was not asked for (--step) has its operator in call_of_work but
// is in no sum.
const OpTimes& op_times(const WindowView& window);

// Why work belongs to no operator.
enum class NoOperator : std::uint8_t {
  kGraph,        // a graph launched outside any operator
  kOutside,      // another launch outside any operator
  kNotRecorded,  // its launch is not in the trace
};
inline constexpr std::size_t kNoOperators = 3;
// In parentheses, as no operator is: "(graph launch)", "(no operator)", "(launch not recorded)".
std::string_view name_of(NoOperator why);
NoOperator why_no_operator(const WindowView& window, const Work& piece);

// Which calls have no call with the same key around them, so that totals of a key count nested
// calls once. One key per call, smaller than `keys`.
std::vector<bool> outermost(const OpTimes& times, std::span<const std::uint32_t> key,
                            std::size_t keys);

}  // namespace stepscope::analysis
