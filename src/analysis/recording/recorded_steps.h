// Every step of a run by what its processes recorded, traced or not.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/arithmetic/durations.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct RecordedStep {
  std::int64_t number = 0;
  base::Nanos start = 0;   // since the first recording of the run began
  base::Nanos length = 0;  // its own: without what is set aside
  bool traced = false;     // a profiler ran meanwhile, which costs time
  // Between its marks, but declared to be something else: validation, a test, a save.
  Intervals aside = {};

  base::Nanos end() const { return start + length + total(aside); }
  Interval span() const { return {start, end()}; }  // from mark to mark
  Intervals own() const;                            // of that, without what is set aside
  bool is_aside(base::Nanos time) const;            // an end of something within it
};

// By rank; steps by start.
std::map<std::int32_t, std::vector<RecordedStep>> recorded_steps(const RunView& view);

// How long the training of each rank stood still for each save of a checkpoint, of runs with steps.
std::map<std::int32_t, Durations> recorded_saves(const RunView& view);

// Whether nothing but `stepscope run` itself recorded, from outside: a program in which it saw no
// training. What to call in a training does not help its user.
bool is_of_program(const RunView& view);

// When the first recording of the run began, on the wall clock.
base::Nanos recording_start(const RunView& view);

}  // namespace stepscope::analysis
