// Every step of a run by what its processes recorded, traced or not.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
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
  Intervals own_time() const;                       // of that, without what is set aside
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

// What a program says its time is for: the phase of a loader or of a range, and the stretches that
// are declared to be no training. A step that contains validation or the save of a checkpoint is
// not longer for it.

inline constexpr std::string_view kTraining = "training";

// "validation" of "DataLoader (validation)"; empty where it was not named.
std::string_view told_phase(std::string_view loader);

// By the name of a range around the loop; empty for any other name.
std::string_view phase_of_range(std::string_view name);

// Whether a range of this name saves a checkpoint: "save_checkpoint", as Lightning's own is called.
bool is_save_range(std::string_view name);

// When the main thread of a process was, as it declared, not training: in ranges of such a name
// or of a save, and from a question for a batch of a loader of another phase to the next question.
// Where a step ended within, it trained nevertheless, and the stretch is not among them.
Intervals set_aside(const WindowView& recording);

// Of these the saves of checkpoints alone.
Intervals saves_of(const WindowView& recording);

}  // namespace stepscope::analysis
