#include "trace/call_tree.h"

#include <vector>

namespace stepscope::trace {
namespace {

struct Open {
  Row row;
  base::Nanos end;
  Row python;  // itself or its nearest Python ancestor
};

bool takes_part(Kind kind, Phase phase) {
  return phase == Phase::kSpan && kind != Kind::kOverhead && kind != Kind::kProfiler;
}

Row stack_top(std::span<const Open> stack) { return stack.empty() ? kNoRow : stack.back().row; }

// The caller by time is the top of the stack. Python's ids decide only where the times leave it
// open: the frame at the top has the very times of the called one, ends before it (by clock noise),
// or overlaps the caller the ids name. What is not a Python frame is never skipped: the ids say
// nothing of an operator between two frames, and files exist whose ids skip frames and operators
// that plainly lie around the call.
Row caller_by_ids(const TreeColumns& columns, std::span<const Open> stack, Row called, Row named) {
  const base::Nanos start = columns.start[called];
  const base::Nanos stop = start + columns.duration[called];
  const base::Nanos named_stop = columns.start[named] + columns.duration[named];
  if (named_stop <= start || stop > named_stop + kCalleeTolerance) return stack_top(stack);
  for (std::size_t at = stack.size(); at > 0; --at) {
    const Open& open = stack[at - 1];
    if (open.row <= named) break;
    const bool is_frame = open.python == open.row;
    const bool same_times = columns.start[open.row] == start && open.end == stop;
    const bool in_doubt = same_times || open.end < stop || open.end > named_stop + kCalleeTolerance;
    if (!is_frame || !in_doubt) return open.row;
  }
  return named;
}

}  // namespace

std::span<const Row> PythonRows::of(std::int64_t id) {
  std::call_once(made_, [&] {
    rows_ = KeyIndex::of([&](auto add) {
      ids_.rows.for_each([&](Row row, std::uint32_t entry) { add(ids_.id[entry], row); });
    });
  });
  return rows_.find(id);
}

TreeCounts link_calls(const TreeColumns& columns, Row begin, Row end, PythonRows& python_rows) {
  const PythonIds& python = python_rows.ids();
  TreeCounts counts;
  std::vector<Open> stack;
  const bool has_python = python.rows.size() != 0;
  for (Row row = begin; row < end; ++row) {
    if (!takes_part(columns.kind[row], columns.phase[row])) continue;
    const base::Nanos start = columns.start[row];
    const base::Nanos stop = start + columns.duration[row];
    while (!stack.empty() && stack.back().end <= start) stack.pop_back();
    while (!stack.empty() && stop > stack.back().end + kCalleeTolerance) {
      if (counts.overlapping++ == 0) counts.first_overlapping = row;
      stack.pop_back();
    }
    Row parent = stack_top(stack);
    Row nearest_python = stack.empty() ? kNoRow : stack.back().python;
    if (has_python) {
      const std::uint32_t entry = python.rows.find(row);
      if (entry != base::RowSet::kNone) {
        const std::int64_t parent_id = python.parent_id[entry];
        const std::uint32_t nearest =
            nearest_python == kNoRow ? base::RowSet::kNone : python.rows.find(nearest_python);
        const bool agrees = nearest != base::RowSet::kNone && python.id[nearest] == parent_id;
        if (parent_id >= 0 && !agrees) {
          Row named = kNoRow;
          for (const Row caller : python_rows.of(parent_id)) {
            if (caller >= begin && caller < row) named = caller;
          }
          if (named != kNoRow) parent = caller_by_ids(columns, stack, row, named);
        }
        nearest_python = row;
      }
    }
    if (parent != kNoRow && stop > columns.start[parent] + columns.duration[parent]) {
      columns.flags[row] |= kOutlivesParent;
      if (counts.outliving++ == 0) counts.first_outliving = row;
    }
    columns.parent[row] = parent;
    stack.push_back({row, stop, nearest_python});
  }
  return counts;
}

}  // namespace stepscope::trace
