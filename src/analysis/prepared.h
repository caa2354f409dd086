// What several analyses of one window start from. Each part is made by the first that asks, kept
// for the rest and read through the function that its comment names, so that no question pays for
// what it does not need. Parts stay as long as the view: they hold what is shared, and no more.
#pragma once

#include <memory>
#include <mutex>

namespace stepscope::analysis {

// A piece of work that is done when it is first asked for.

// What several analyses need and others do not: made by the first that asks, kept for the rest.
template <class T>
class OnDemand {
 public:
  // All callers pass the same `make`; it runs once, whoever else waits for it.
  template <class Make>
  std::shared_ptr<const T> shared(Make make) {
    std::call_once(once_, [&] { value_ = std::make_shared<const T>(make()); });
    return value_;
  }
  template <class Make>
  const T& get(Make make) {
    return *shared(make);
  }

 private:
  std::once_flag once_;
  std::shared_ptr<const T> value_;
};

struct OpCalls;
struct OpMarks;
struct CallCosts;
struct HostTime;
struct HostWork;
struct WindowParts;

struct Prepared {
  OnDemand<OpCalls> op_calls;        // op_calls(window)
  OnDemand<OpMarks> op_marks;        // op_marks(window)
  OnDemand<CallCosts> call_costs;    // call_costs(window)
  OnDemand<HostTime> host_time;      // host_time(window)
  OnDemand<WindowParts> step_parts;  // step_parts(window)
  OnDemand<HostWork> host_work;      // host_work(window)
};

}  // namespace stepscope::analysis
