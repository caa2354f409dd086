// The entries of traceEvents in the order of the file: events, flows, and gaps: positions whose
// entry became neither (names of threads, ends of spans, what could not be read).
#pragma once

#include <cstdint>
#include <vector>

#include "base/column.h"
#include "trace/trace.h"

namespace stepscope::emit {

class FileOrder {
 public:
  explicit FileOrder(const trace::Trace& trace);

  // Calls visitor.row(row), visitor.flow(index) or visitor.gap() for every position in turn, as
  // long as they return true.
  template <class Visitor>
  void walk(Visitor& visitor) const {
    std::size_t next_flow = 0;
    for (std::size_t ordinal = 0; ordinal < rows_.size(); ++ordinal) {
      bool go_on = true;
      if (rows_[ordinal] != 0) {
        go_on = visitor.row(rows_[ordinal] - 1);
      } else if (next_flow < flows_.size() && flow_ordinal_[flows_[next_flow]] == ordinal) {
        go_on = visitor.flow(flows_[next_flow++]);
      } else {
        go_on = visitor.gap();
      }
      if (!go_on) return;
    }
  }

 private:
  base::Column<std::uint32_t> rows_;  // by ordinal: row + 1, or 0
  std::vector<std::uint32_t> flows_;  // indices of flows by ordinal
  std::span<const std::uint32_t> flow_ordinal_;
};

}  // namespace stepscope::emit
