// The life of every allocation of one history: when it was handed out, when the program let go of
// it, when its memory could be used again. Those older than the history and those still alive are
// among them. What is alive at the end is what the snapshot's blocks say; where the two differ, the
// difference is counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "memory/snapshot.h"

namespace stepscope::analysis {

using AllocationId = std::uint32_t;
inline constexpr AllocationId kNoAllocation = 0xffffffff;
inline constexpr std::uint32_t kNoEvent = 0xffffffff;

struct Allocation {
  std::uint64_t address = 0;
  base::Bytes requested = 0;        // what was asked for, before rounding
  std::int64_t stream = 0;          //
  std::uint32_t alloc = kNoEvent;   // kNoEvent: older than the history
  std::uint32_t let_go = kNoEvent;  // free_requested: the program has no use for it any more
  std::uint32_t freed = kNoEvent;   // free_completed: can be handed out again
  memory::StackId stack = memory::kNoStack;  // of the allocation; of its block if only that has one
  std::uint32_t block = 0xffffffff;          // in Snapshot::blocks, of what is alive at the end
  std::uint16_t pool = memory::kUnknownPool;
  bool let_go_before = false;  // the program let go of it before the history began
  bool end_unknown = false;  // no event says when it ended: `freed` is when it was seen to be gone

  bool is_older() const { return alloc == kNoEvent; }
  bool is_alive_at_end() const { return freed == kNoEvent; }
  // When the program had no use for it any more; kNoEvent: it still had at the end.
  std::uint32_t used_until() const { return let_go != kNoEvent ? let_go : freed; }
};

// What does not fit together: signs of lost or overwritten events.
struct Contradictions {
  std::uint64_t reused_while_alive = 0;    // an address handed out twice without a free between
  std::uint64_t alive_without_block = 0;   // no free in the history, no active block either
  std::uint64_t block_size_differs = 0;    // the block was asked for with another size
  std::uint64_t freed_size_differs = 0;    // freed with another size than it was asked for
  std::uint64_t let_go_twice = 0;          //
  std::uint64_t freed_without_let_go = 0;  // though the history has such events

  std::uint64_t all() const {
    return reused_while_alive + alive_without_block + block_size_differs + freed_size_differs +
           let_go_twice + freed_without_let_go;
  }
};

struct Allocations {
  std::vector<Allocation> list;  // the older ones by address, then by the event that began them
  std::size_t older = 0;         // how many of them are older than the history
  std::vector<AllocationId>
      of_event;                  // of alloc, free_requested and free_completed; else kNoAllocation
  base::Bytes older_bytes = 0;   // requested, of the older ones
  std::size_t alive_at_end = 0;  //
  base::Bytes alive_at_end_bytes = 0;
  bool has_blocks = false;  // the snapshot has segments of this device: the end was compared
  bool let_go_is_free =
      false;  // the history has no free_completed: free_requested ends allocations
  Contradictions contradictions;

  // Nothing is older than the history, so its sums are those of the whole process.
  bool cover_the_process() const { return older == 0; }
};

// The history must be one of the snapshot's. n log n in its events.
Allocations find_allocations(const memory::Snapshot& snapshot, const memory::History& history);

// Plain sentences for what Contradictions counts; empty where all is well.
std::vector<std::string> remarks_on(const Allocations& allocations,
                                    const memory::Snapshot& snapshot);

// Requested bytes alive after each event; what is older counts from the beginning.
std::vector<base::Bytes> live_bytes(const Allocations& allocations, const memory::History& history);

}  // namespace stepscope::analysis
