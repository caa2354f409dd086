// Calls that launch work and did not return at once although the device had nothing to do: the
// driver loads code at its first use, or another thread holds what the call needs.
#pragma once

#include <vector>

#include "analysis/idle/idle_gaps.h"
#include "analysis/view.h"
#include "trace/trace.h"

namespace stepscope::analysis {

// Of a gap that is the host's: from when on the launch of the next work was called and did not
// return. Empty: it took as long as launches do.
Interval held_in_launch(const WindowView& window, const Gap& gap);

class HeldCalls {
 public:
  explicit HeldCalls(const WindowView& window) : window_(&window) {}

  // The call of another thread that fills at least half of the time and takes memory, loads code or
  // makes streams and events; kNoRow: none is recorded.
  trace::Row holder(Interval time, trace::Row launch);
  // Whether the trace shows the work of this launch here for the first time: the driver loads the
  // code of a kernel when it is first used.
  bool is_first_use(trace::Row launch);

 private:
  struct Call {
    Interval time;
    trace::Row row = trace::kNoRow;
    base::Nanos reach = 0;  // the latest end of this and of those before
  };
  void find_calls();

  const WindowView* window_;
  bool knows_calls_ = false;
  std::vector<Call> calls_;            // by start
  std::vector<trace::Row> first_use_;  // by name of work: the call that launched it first
};

// The shortest call that is taken for one that holds others, and the shortest hold.
inline constexpr base::Nanos kHeld = 300'000;

}  // namespace stepscope::analysis
