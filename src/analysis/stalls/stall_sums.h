// The idle time of a window's devices that the host could have filled, each wait with one reason.
// What belongs to whom: docs/metrics/stalls.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/stalls/host_marks.h"
#include "analysis/stalls/profiler_overhead.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct StallRules {
  base::Nanos delay = 30'000;     // as in idle-time: shorter gaps between queued work have no cause
  base::Nanos pause = 2'000'000;  // so long with nothing recorded on the host is a pause
};

struct StallSum {
  std::int64_t count = 0;            // calls or ranges of the sort
  base::Nanos host = 0;              // they took on the host
  std::int64_t waits = 0;            // of a device, that belong to it
  base::Nanos idle = 0;              // those waits
  base::Nanos inside = 0;            // of them, the host was in such a call or range
  base::Nanos held = 0;              // of idle: the launch of the next work did not return
  base::Nanos first_use = 0;         // of held: before work of a name that had not run before
  base::Nanos longest = 0;           // single wait
  base::Nanos copies = 0;            // their copies ran and nothing computed meanwhile
  base::Bytes bytes = 0;             // of those copies
  std::int64_t work = 0;             // of the optimizer: pieces of work it launched
  base::Nanos work_ns = 0;           // their lengths, added
  base::Nanos without_profiler = 0;  // those waits, at the least, without a profiler
  base::Nanos usual = 0;             // the same, where noting takes as long as usual

  void merge(const StallSum& other);
  bool empty() const { return count == 0 && waits == 0 && copies == 0; }
};
using StallSums = std::array<StallSum, kStalls>;

// Where in the code a wait comes from.
struct StallPlace {
  std::int64_t waits = 0;
  base::Nanos idle = 0, longest = 0;
  std::int64_t step = -1;    // of the longest; -1: none
  std::uint32_t window = 0;  // of the longest, as below
  std::uint32_t event = 0;   // place in the file of what kept the host
  bool has_event = false;

  void merge(const StallPlace& other);
};
// Stall, call, operator, frames.
using StallKey = std::tuple<Stall, std::string, std::string, std::string>;

// One call by name, of those that take memory from the driver, or load code, make streams, ...
struct DriverCall {
  std::int64_t count = 0;
  base::Nanos host = 0;
  std::int64_t runs = 0;   // rows of this call on a thread, without another of them between
  std::int64_t steps = 0;  // in which it occurs
  std::int64_t waits = 0;  // of a device, that belong to it
  base::Nanos idle = 0;

  void merge(const DriverCall& other);
};
using DriverCalls = std::map<std::pair<Stall, std::string>, DriverCall>;

struct WindowStalls {
  StallSums all;
  std::vector<std::pair<std::int64_t, StallSums>> steps;  // by step number, in order of time
  std::map<StallKey, StallPlace> places;
  DriverCalls calls;
  OverheadSums noted;
};

// `collections`: see host_marks.
WindowStalls window_stalls(const WindowView& window, const StallRules& rules,
                           const Intervals& collections);

}  // namespace stepscope::analysis
