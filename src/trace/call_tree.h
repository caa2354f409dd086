// Who called whom on one thread, from the times of its spans alone, helped by Python's own ids.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "base/int_column.h"
#include "base/row_set.h"
#include "base/units.h"
#include "trace/key_index.h"
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

// Which rows have a Python id. Most trees are plain from the times alone and never ask, so the
// index is made when somebody does; several threads may.
class PythonRows {
 public:
  explicit PythonRows(const PythonIds& ids) : ids_(ids) {}

  const PythonIds& ids() const { return ids_; }
  std::span<const Row> of(std::int64_t id);

 private:
  const PythonIds& ids_;
  std::once_flag made_;
  KeyIndex rows_;
};

TreeCounts link_calls(const TreeColumns& columns, Row begin, Row end, PythonRows& python);

}  // namespace stepscope::trace
