// When the host did what, in one window: sets of time over all its threads. Roles overlap (an
// operator calls the runtime); whoever shares out time among them decides who comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct HostTime {
  Intervals runtime;        // calls into the runtime or the driver
  Intervals communication;  // ranges of process groups: "nccl:all_reduce", "gloo:broadcast"
  Intervals loading;        // the loop waits for its loader
  // Operators and annotations, whatever they are for; marks of steps are none, Python frames
  // neither.
  Intervals operators;
};

// Made once per window.
const HostTime& host_time(const WindowView& window);

// What TensorBoard's plugin takes for each of them.
HostTime tensorboard_host_time(const WindowView& window);

// The few host ranges TensorBoard's plugin knows as communication, by exact name.
bool is_tensorboard_communication(std::string_view range);

// Whether this row marks a step of the window: its time is the step, not something done in it.
class StepMarks {
 public:
  explicit StepMarks(const trace::Trace& trace);
  bool contains(trace::Row row) const {
    const base::StringId name = trace_->name()[row];
    if (name < named_.size() && named_[name] != 0) return true;
    // Most rows are operators, and steps are not.
    const bool may_be = (kinds_ >> static_cast<unsigned>(trace_->kind()[row]) & 1) != 0;
    return may_be && is_listed(row);
  }

 private:
  bool is_listed(trace::Row row) const;

  const trace::Trace* trace_;
  std::vector<trace::Row> rows_;     // ascending
  std::uint64_t kinds_ = 0;          // a bit for each kind that they have
  std::vector<std::uint8_t> named_;  // by name: 1 is one of the profiler's own marks
};

}  // namespace stepscope::analysis
