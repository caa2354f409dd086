// Who called whom on one thread, from the times of its spans alone, helped by Python's own ids.
#pragma once

#include <cstdint>
#include <span>

#include "base/int_column.h"
#include "base/row_set.h"
#include "base/units.h"
#include "trace/kind.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace stepscope::trace {

// Two clocks feed one thread's spans; a callee may seem to end this much after its caller.
inline constexpr base::Nanos kCalleeTolerance = 1000;

// Python's ids of the spans that have them.
struct PythonIds {
  base::RowSet rows;
  base::IntColumn id;
  base::IntColumn parent_id;
};

// Columns of the whole trace; the tree of one track reads and writes the rows of that track only,
// so tracks can be done in parallel.
struct TreeColumns {
  std::span<const base::Nanos> start, duration;
  std::span<const Kind> kind;
  std::span<const Phase> phase;
  std::span<std::uint8_t> flags;
  std::span<Row> parent;
};

struct TreeCounts {
  std::uint64_t outliving = 0;    // callees that end after their caller by clock noise
  std::uint64_t overlapping = 0;  // spans that overlap without nesting
  Row first_outliving = kNoRow;
  Row first_overlapping = kNoRow;
};

// `row_of_python_id(id)` gives the row that has a Python id, or kNoRow.
TreeCounts link_calls(const TreeColumns& columns, Row begin, Row end, const PythonIds& python,
                      const class KeyIndex& row_of_python_id);

}  // namespace stepscope::trace
