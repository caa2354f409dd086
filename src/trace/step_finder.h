// What counts as a step: the profiler's own marks; else what the user names; else Lightning's
// batches; else what repeats in the kernel sequence; else the whole window. A pattern given by the
// user wins over everything.
#pragma once

#include <optional>
#include <vector>

#include "trace/step_pattern.h"
#include "trace/trace.h"

namespace stepscope::trace {

// By their names; nothing where no name tells.
std::optional<Steps> named_steps(const Trace& trace, const StepPattern& pattern);
// Where no name tells. Wants to know what launched what.
Steps unnamed_steps(const Trace& trace);

// Of the recording, what lies outside of its steps: its time, from 0 to 1.
double share_left_out(const Trace& trace);

// Steps that nothing marks: the rhythm in the kernels of the busiest stream.

// From one launch of a kernel that comes once a round to the next, numbered from 0. Empty where
// most of the stream's work has no such rhythm. As other steps they are ranges of the host's time,
// because the device may be late by more than a step; of the device's own where a trace does
// not tell who launched what.
// They are a guess, and none is made where something in the trace contradicts it.
std::vector<Step> repeating_steps(const Trace& trace);

// Whether ranges, operators, modules or Python's frames say that these are no steps.

enum class StepClock : std::uint8_t { kHost, kDevice };  // whose time the steps are ranges of

bool are_contradicted(const Trace& trace, const std::vector<Step>& steps, StepClock clock);

}  // namespace stepscope::trace
