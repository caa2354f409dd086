// Idle time of a rank's devices, shared out among what the launching thread was in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/steps/within.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct WaitSum {
  base::Nanos idle = 0, longest = 0;
  std::uint64_t waits = 0;
  void merge(const WaitSum& other) {
    idle += other.idle;
    longest = std::max(longest, other.longest);
    waits += other.waits;
  }
};
using HostKey = std::pair<std::string, std::string>;  // text, and its kind where there is one
using HostParts = std::map<HostKey, WaitSum>;

struct HostThread {
  std::string name;
  std::uint64_t ended = 0;
  base::Nanos recorded = 0;
};

// Of one window, or of all windows of a rank.
struct HostWaits {
  std::array<HostParts, 4> parts;  // in the order of the tables
  std::map<std::string, HostThread> threads;
  base::Nanos idle = 0;

  void merge(const HostWaits& other);
};

HostWaits host_waits(const WindowView& window, Within within);

}  // namespace stepscope::analysis
