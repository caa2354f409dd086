// The recorded requests served again by torch's rules, without the recorded addresses. Under the
// recorded settings this must ask the driver for the same memory at the same events; only then is
// the answer under other settings worth telling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/memory/allocator/caching.h"
#include "analysis/memory/replay/replay.h"

namespace stepscope::analysis {

// What a recorded history asked of its allocator, without where it was put: the same for every
// setting, so it is gathered once and replayed for each.

struct Request {
  enum class Kind : std::uint8_t {
    kTake,      // of: a life
    kGiveBack,  // of: a life
    kRelease,   // of: the first of the events that return segments to the driver
    kFail       // of: an event that ran out of memory
  };
  Kind kind = Kind::kTake;
  std::uint32_t of = 0;
};

// Of one history; refers to it.
struct Requests {
  const memory::History* history = nullptr;
  const Allocations* allocations = nullptr;
  const Replay* replay = nullptr;
  std::vector<Request> list;           // in the order of events
  std::vector<base::Bytes> requested;  // by life
};
Requests requests_of(const memory::History& history, const Allocations& allocations,
                     const Replay& replay);

bool takes_memory(memory::Action action);
bool returns_memory(memory::Action action);
// Where returns that follow each other end.
std::size_t returns_end(const memory::History& history, std::size_t first);
// Whether the allocator itself returned segments, to make room: then the request it needs room for
// comes next, and the same call did both.
bool makes_room(const memory::History& history, std::size_t first, std::size_t end);

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

// An allocator that serves the recorded requests by its own lights.

class RequestReplay {
 public:
  RequestReplay(const Requests& requests, const allocator::Rules& rules,
                std::optional<base::Bytes> limit);
  RequestReplay(const RequestReplay&) = delete;
  RequestReplay& operator=(const RequestReplay&) = delete;

  allocator::Caching& caching() { return caching_; }

  // What is older than the history lies where it lay, or is laid out afresh.
  void begin_as_recorded();
  void begin_afresh();

  // False: there was no room.
  bool take(AllocationId life) {
    const base::Bytes requested = requests_.requested[life];
    const base::Bytes rounded = rules_.rounded(requested);
    block_of_[life] = caching_.request(bin_of(life, rounded), requested, rounded, life);
    return block_of_[life] != allocator::kNoBlock;
  }
  void give_back(AllocationId life) {
    if (block_of_[life] == allocator::kNoBlock) return;
    caching_.complete_free(block_of_[life]);
    block_of_[life] = allocator::kNoBlock;
  }
  // What the program returned with these events.
  void release(std::size_t first, std::size_t end);

  std::uint64_t address_of(AllocationId life) const { return caching_[block_of_[life]].address; }

 private:
  std::uint32_t bin_of(AllocationId life, base::Bytes rounded) const {
    return bins_[2 * requests_.replay->bin_of[life] + (rules_.is_small(rounded) ? 1 : 0)];
  }

  const Requests& requests_;
  allocator::Rules rules_;
  allocator::Caching caching_;
  std::vector<std::uint32_t> bins_;           // by Replay::bins, large and small
  std::vector<allocator::BlockId> block_of_;  // by life
};

}  // namespace stepscope::analysis
