// The recorded requests served again by torch's rules, without the recorded addresses. Under the
// recorded settings this must ask the driver for the same memory at the same events; only then is
// the answer under other settings worth telling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/memory/simulated/simulated_requests.h"

namespace stepscope::analysis {

struct Simulated {
  base::Bytes peak_reserved = 0;
  base::Bytes peak_active = 0;
  base::Bytes end_reserved = 0;
  std::int64_t peak_segments = 0;
  std::uint64_t driver_allocs = 0;  // calls that take memory: cudaMalloc, or pages mapped
  std::uint64_t driver_frees = 0;   // calls that return it
  std::uint64_t retries = 0;        // times everything unused was returned to make room
  std::uint64_t failed = 0;         // recorded allocations for which there was no room
  std::uint64_t ooms_served = 0;    // of the recorded failures: those there is room for
  // Of the other split sizes asked about: those under which every request goes the same way.
  std::vector<base::Bytes> same_split_sizes;
};

// Whether the rules, under the recorded settings, ask the driver for what was recorded.
struct Reproduction {
  bool is_same = false;
  std::uint64_t driver_calls = 0;  // compared
  std::uint32_t first_departure = kNoEvent;
  std::string why;                 // what differs there
  std::uint64_t other_places = 0;  // allocations put elsewhere than recorded
};

Reproduction reproduce(const Requests& requests);

// How much the allocator could take from the driver, as far as the record tells: at least what it
// once had, less than what was once refused.
struct Limit {
  base::Bytes at_least = 0, at_most = 0;
  bool is_own = false;  // the driver had enough when a request failed: the process may not take it
};
// Free on the device when a request failed, as the driver said.
base::Bytes driver_free_at(const memory::History& history, std::size_t oom);
// What is taken from the driver for a request that finds no block.
base::Bytes taken_for(const allocator::Rules& rules, base::Bytes asked);
// Not set: the driver never refused.
std::optional<Limit> limit_seen(const memory::History& history, const Replay& replay);

// With a history that begins late, what is older is laid out afresh first.
Simulated simulate(const Requests& requests, const allocator::Rules& rules,
                   std::optional<base::Bytes> limit,
                   std::span<const base::Bytes> other_split_sizes = {});

// The most that was in use at once, rounded, without any gap and without the rest of a block that
// is too small to be split off: no setting can need less.
base::Bytes least_possible(const Requests& requests, const allocator::Rules& rules);

}  // namespace stepscope::analysis
