#include "analysis/operators/op_marks.h"

#include "analysis/prepared.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

// Calls of one thread that run, the innermost last. Both calls and marks come by start.
class Running {
 public:
  explicit Running(const trace::Trace& trace) : trace_(trace) {}

  void clear() { open_.clear(); }
  void begin(const OpCall& call, std::uint32_t number) {
    // One that ends now is over for its followers, but what happens now is still its own.
    const base::Nanos now = trace_.start()[call.row];
    while (!open_.empty() && open_.back().end <= now) open_.pop_back();
    open_.push_back({trace_.end(call.row), number});
  }
  std::uint32_t at(base::Nanos now) {
    while (!open_.empty() && open_.back().end < now) open_.pop_back();
    return open_.empty() ? OpCall::kNone : open_.back().call;
  }

 private:
  struct Open {
    base::Nanos end;
    std::uint32_t call;
  };
  const trace::Trace& trace_;
  std::vector<Open> open_;
};

OpMarks find_marks(const trace::Trace& trace, const OpCalls& calls) {
  OpMarks out;
  const base::RowSet& marks = trace.memory_events().rows;
  if (marks.size() == 0) return out;
  out.call.reserve(marks.size());
  Running running(trace);
  std::uint32_t next = 0;  // of the calls
  std::uint32_t track = 0xffffffff;
  marks.for_each([&](Row row, std::uint32_t) {
    if (trace.track()[row] != track) {
      track = trace.track()[row];
      running.clear();
      const Row first = trace.tracks()[track].begin;
      while (next < calls.calls.size() && calls.calls[next].row < first) ++next;
    }
    for (; next < calls.calls.size() && calls.calls[next].row < row; ++next) {
      running.begin(calls.calls[next], next);
    }
    out.call.push_back(running.at(trace.start()[row]));
  });
  return out;
}

}  // namespace

const OpMarks& op_marks(const WindowView& window) {
  return window.prepared->op_marks.get([&] { return find_marks(*window.trace, op_calls(window)); });
}

}  // namespace stepscope::analysis
