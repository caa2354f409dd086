// What a program says its time is for: the phase of a loader or of a range, and the stretches that
// are declared to be no training. A step that contains validation or the save of a checkpoint is
// not longer for it.
#pragma once

#include <string_view>

#include "analysis/view.h"

namespace stepscope::analysis {

inline constexpr std::string_view kTraining = "training";

// "validation" of "DataLoader (validation)"; empty where it was not told.
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
