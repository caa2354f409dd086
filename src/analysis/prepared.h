// What several analyses of one window start from. Each part is made by the first that asks, kept
// for the rest and read through the function that its comment names, so that no question pays for
// what it does not need. Parts stay as long as the view: they hold what is shared, and no more.
#pragma once

#include "analysis/on_demand.h"

namespace stepscope::analysis {

struct OpCalls;
struct OpMarks;
struct CallCosts;
struct HostTime;
struct WindowParts;

struct Prepared {
  OnDemand<OpCalls> op_calls;        // op_calls(window)
  OnDemand<OpMarks> op_marks;        // op_marks(window)
  OnDemand<CallCosts> call_costs;    // call_costs(window)
  OnDemand<HostTime> host_time;      // host_time(window)
  OnDemand<WindowParts> step_parts;  // step_parts(window)
};

}  // namespace stepscope::analysis
