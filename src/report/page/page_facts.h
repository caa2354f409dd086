// How long a step takes, for the first lines of the report: by all steps that a run recorded, where
// it did, and not by the few that were traced, which are slower for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "report/page/page.h"

namespace stepscope::report {

// The one number to show first: how long a step takes, warm-up left out.
struct FirstStep {
  base::Nanos mean_ns =
      0;  // of all ranks; of traced steps: of the slowest rank, as findings say it
  bool is_recorded = false;  // of all steps and not of those that were traced
};
std::optional<FirstStep> first_step(const Answers& answers);

// "500", or of several ranks "500 on each of 2 ranks"; empty: no steps were recorded.
std::string recorded_step_count(const Answers& answers);

// "500 · 41.2 ms each (24.3 /s, 778 samples/s), without 17 of warm-up and 3 that were traced";
// empty: no steps were recorded.
std::string recorded_steps_fact(const Answers& answers);

// "tracing slows them: half take 52.0 ms or more, of the others 41.0 ms"; empty: there are no
// others.
std::string tracing_cost_fact(const Answers& answers);

// "3 traced steps; tracing slows them", or without the last words where it did not, after the
// titles of what is known of traced steps alone; empty: of all steps, or nothing but the trace is
// there.
std::string traced_mark(const Answers& answers);

// Runs in which no GPU worked: one line of the report says so, and the rest of it is about the
// host.

// Nothing was traced on a device, called into one, or seen of one by the sampler.
bool worked_without_gpu(const Answers& answers);

// "none was seen: …"
std::string no_gpu_fact(const Answers& answers);

// A memory snapshot in a few sentences: the peak and who holds it, why a request failed and the
// cheapest way out, what leaks, what is held for nothing.

// One text per device of a snapshot, named by it.
std::vector<NamedText> memory_story(const Answers& answers);

}  // namespace stepscope::report
