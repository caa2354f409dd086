#include "trace/call_tree.h"

#include <vector>

#include "trace/key_index.h"

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

}  // namespace

TreeCounts link_calls(const TreeColumns& columns, Row begin, Row end, const PythonIds& python,
                      const KeyIndex& row_of_python_id) {
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
    Row parent = kNoRow;
    Row nearest_python = kNoRow;
    if (!stack.empty()) {
      parent = stack.back().row;
      nearest_python = stack.back().python;
    }
    if (has_python) {
      const std::uint32_t entry = python.rows.find(row);
      if (entry != base::RowSet::kNone) {
        const std::int64_t parent_id = python.parent_id[entry];
        const std::uint32_t nearest =
            nearest_python == kNoRow ? base::RowSet::kNone : python.rows.find(nearest_python);
        const bool agrees = nearest != base::RowSet::kNone && python.id[nearest] == parent_id;
        if (parent_id >= 0 && !agrees) {
          for (const Row caller : row_of_python_id.find(parent_id)) {
            if (caller >= begin && caller < row) parent = caller;
          }
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
