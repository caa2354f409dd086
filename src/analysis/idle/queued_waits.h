// Launched work that did not begin: before which work, and whether the device stops again and again
// for the same time, whatever is launched, as it does when another process has its turn.
// Definitions: docs/metrics/idle-time.md.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/idle/idle_gaps.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// Waits of launched work (Cause::kOther), by what they were before.
struct QueuedWait {
  std::int64_t waits = 0;
  base::Nanos idle = 0, longest = 0;
  std::vector<base::Nanos> lengths;

  void merge(const QueuedWait& other);
  base::Nanos median() const;
};
struct QueuedKey {
  std::string work, call;        // what launched it; empty: not in the file
  std::size_t node = 0, of = 0;  // of several pieces of one call: which, from 1; 0: the only one
  auto operator<=>(const QueuedKey&) const = default;
};
using QueuedWaits = std::map<QueuedKey, QueuedWait>;
// `measured`: what counts, by start.
void add_queued_waits(QueuedWaits& out, const WindowView& window, std::span<const Gap> gaps,
                      const Intervals& measured);

// Stops of a device that the host did not bring about.
struct Stops {
  std::int64_t between = 0, inside = 0;  // before launched work; in kernels that took far longer
  base::Nanos idle = 0, longer = 0;      // those waits; beyond the usual length of those kernels
  base::Nanos usual = 0;                 // the length that most of them have
  double alike = 0;                      // share of stops within a twentieth of it
  base::Nanos period = 0;                // median time from one to the next
  double steady = 0;                     // share of those times within a quarter of it
  double same_work = 0;                  // share of those stops at the work that has most of them

  std::int64_t count() const { return between + inside; }
};
Stops stops_of(const WindowView& window, const DeviceView& device, std::span<const Gap> gaps,
               const Intervals& measured);

}  // namespace stepscope::analysis
