// What the rows of a timeline are called: by what a person would say, not by what a file left
// empty.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "session/timeline/timeline.h"
#include "trace/trace.h"

namespace stepscope::session {

// Of the row of a thread; never empty. `track` is one of the window's trace.
std::string thread_label(const TimelineWindow& window, const trace::Track& track);

// Of the log lines of a process.
std::string log_label(const TimelineWindow& window);

// Of a line that a process recorded of itself. Nothing for what a data loader notes down of each
// batch (its number, its worker, its settings): the loader's own questions answer with it, and as a
// line it says nothing; how many batches were ready is one.
std::optional<std::string> recorded_counter_label(std::string_view name);

// "GPU 0 utilisation (%)" and "resident bytes" are a label and a unit.
struct LabelAndUnit {
  std::string label, unit;
};
LabelAndUnit label_and_unit(std::string name);

}  // namespace stepscope::session
