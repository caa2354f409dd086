#include "analysis/operators/op_memory.h"

namespace stepscope::analysis {

using trace::Row;

OpMemory op_memory(const WindowView& window, const OpTimes& times) {
  const trace::Trace& trace = *window.trace;
  const trace::MemoryTable& marks = trace.memory_events();
  OpMemory out;
  out.recorded = marks.rows.size() > 0;
  out.self.resize(times.calls.size());
  if (out.recorded) {
    struct Open {
      base::Nanos end;
      std::uint32_t call;
    };
    std::vector<Open> open;  // calls of this thread
    for (const trace::Track& track : trace.tracks()) {
      open.clear();
      for (Row row = track.begin; row < track.end; ++row) {
        if (const std::uint32_t call = times.find(row); call != OpCall::kNone) {
          while (!open.empty() && open.back().end <= trace.start()[row]) open.pop_back();
          open.push_back({trace.end(row), call});
          continue;
        }
        const std::uint32_t mark = marks.rows.find(row);
        if (mark == base::RowSet::kNone || (trace.flags()[row] & trace::kFarTime) != 0) continue;
        const base::Nanos time = trace.start()[row];
        // A mark at the very end of a call is still its own.
        while (!open.empty() && open.back().end < time) open.pop_back();
        const bool on_host = marks.device_type[mark] == 0;
        const NetBytes bytes{.host = on_host ? marks.bytes[mark] : 0,
                             .device = on_host ? 0 : marks.bytes[mark]};
        if (!open.empty()) {
          out.self[open.back().call].add(bytes);
        } else if (window.counts_at(time)) {
          out.outside.add(bytes);
        }
      }
    }
  }
  out.total = out.self;
  for (std::size_t i = times.calls.size(); i-- > 0;) {
    const std::uint32_t parent = times.calls[i].parent;
    if (parent != OpCall::kNone) out.total[parent].add(out.total[i]);
  }
  return out;
}

}  // namespace stepscope::analysis
