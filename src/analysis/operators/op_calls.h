// The operator calls of a window: which is inside which, and which work each of them launched.
// Annotations are not operators. Definitions: docs/metrics/operators.md.
//
// It is one linear pass, but many analyses of one report start from it: it is made when the first
// of them asks and kept in the window's view. So it holds no more than all of them need; what the
// calls cost is op_times.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/view.h"
#include "base/column.h"

namespace stepscope::analysis {

struct OpCall {
  static constexpr std::uint32_t kNone = 0xffffffff;
  trace::Row row = trace::kNoRow;
  std::uint32_t parent = kNone;  // index of the operator call around it on its thread
};

struct OpCalls {
  base::RowSet rows;                   // operators of the trace
  std::vector<OpCall> calls;           // in order of rows: a parent before its children
  std::vector<std::uint32_t> of_work;  // by WindowView::work: into calls, or OpCall::kNone

  // The call of an operator's row, or kNone.
  std::uint32_t find(trace::Row row) const { return rows.find(row); }

  // Whether it began in a step that was asked for: its host time and calls count.
  bool counts(const WindowView& window, std::uint32_t call) const {
    return window.counts_at(window.trace->start()[calls[call].row]);
  }
};

// Made once per window. Work that was not asked for (--step) has its operator too.
const OpCalls& op_calls(const WindowView& window);

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

// The allocator's marks and the operators that were running when they were made. Marks are instants
// and have no place in the call tree.

struct OpMarks {
  // By entry of the trace's memory events: the innermost operator on their thread, or kNone. One
  // that ends at this very moment is still running.
  std::vector<std::uint32_t> call;
};

// Made once per window.
const OpMarks& op_marks(const WindowView& window);

// What every operator call cost on the host. Definitions: docs/metrics/operators.md.

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
