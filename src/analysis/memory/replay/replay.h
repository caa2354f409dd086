// One allocator's history followed step by step: torch's rules for rounding, cutting and joining
// applied where the record says each allocation lies. Gives what the record leaves out: the size
// of every block, what was reserved, unused and unreturnable at any time, and all of torch's
// statistics. Where the record and the rules disagree it is counted, never papered over.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/memory/allocator/blocks.h"
#include "analysis/memory/allocator/rules.h"
#include "analysis/memory/history/allocations.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {

// Where an allocator's memory lay before its recorded history begins, worked out backwards from the
// snapshot at its end: what is returned without having been taken was there before, and so was
// what is there at the end without ever having been taken.

struct SegmentPlace {
  std::uint64_t address = 0;
  base::Bytes size = 0;
  std::int64_t stream = 0;
  std::uint16_t pool = 0;
  bool is_small = false;

  std::uint64_t end() const { return address + static_cast<std::uint64_t>(size); }
};

// The segments of one history's allocator at the end, by address: what events do not say.
class LastSegments {
 public:
  LastSegments(const memory::Snapshot& snapshot, const memory::History& history);
  const memory::Segment* at(std::uint64_t address) const;  // nullptr: not of a segment
  const std::vector<const memory::Segment*>& list() const { return list_; }
  // The pool an event is about; where nothing says it, the common one.
  std::uint16_t pool_of(const memory::History& history, std::size_t event) const;

 private:
  std::vector<const memory::Segment*> list_;
  std::map<std::uint64_t, std::size_t> taken_at_;  // when the segments of the end were taken
};

struct ReplayStart {
  std::vector<SegmentPlace> segments;  // there before the history begins
  std::vector<SegmentPlace> reserves;  // address space of expandable segments, whole
  std::vector<SegmentPlace> mapped;    // parts of it that had memory before the history
};

ReplayStart start_of(const LastSegments& last, const memory::History& history);

// The state after one event.
struct ReplayMoment {
  std::uint32_t event = 0;
  std::uint32_t segments = 0;      // stretches of memory held from the driver
  base::Bytes reserved = 0;        // held from the driver
  base::Bytes active = 0;          // in blocks that cannot be handed out
  base::Bytes allocated = 0;       // in blocks the program has
  base::Bytes requested = 0;       // asked for, of the active blocks
  base::Bytes inactive_split = 0;  // free, but in a segment of which a part is in use
  base::Bytes largest_free = 0;    // the largest free block

  base::Bytes unused() const { return reserved - active; }
};

// Free memory of one segment at one moment.
struct SegmentFree {
  std::uint64_t address = 0;
  base::Bytes size = 0, free = 0, largest_free = 0;
  std::int64_t stream = 0;
  std::uint16_t pool = 0;
  bool is_small = false, is_expandable = false;
};

struct ReplayOom {
  ReplayMoment at;
  base::Bytes usable = 0;             // free in blocks of the pool and stream that asked
  base::Bytes largest_usable = 0;     // the largest such block
  base::Bytes elsewhere = 0;          // free in blocks of other pools or streams
  std::vector<SegmentFree> segments;  // with free memory, the most first
};

struct ReplayDoubts {
  std::uint64_t not_at_a_free_block = 0;  // allocations where no free block begins
  std::uint64_t block_too_small = 0;      // the free block is smaller than the request
  std::uint64_t outside_segments = 0;     // allocations outside every known segment
  std::uint64_t still_in_use = 0;         // segments returned while a block of them is in use
  std::uint64_t unknown_segment = 0;      // returned or mapped where none is known
  std::uint64_t at_the_end = 0;           // blocks of the snapshot that the state does not have
  std::uint32_t first_event = kNoEvent;

  std::uint64_t all() const {
    return not_at_a_free_block + block_too_small + outside_segments + still_in_use +
           unknown_segment + at_the_end;
  }
};

using allocator::Bin;

struct Replay {
  allocator::Rules rules;
  std::vector<base::Bytes> block_size;  // by life, in the order of Allocations::list
  std::vector<std::uint32_t> bin_of;    // by life: index into bins
  std::vector<Bin> bins;                //
  allocator::Statistics statistics;     // as memory_stats at the end; see `is_whole`
  ReplayMoment start, end;              // before the first event, after the last
  ReplayMoment peak_reserved, peak_allocated, peak_unused;  // the first moments of the most
  std::vector<ReplayMoment> moments;  // in order: a few per stretch of events, all extremes
  std::vector<ReplayOom> ooms;        // one per oom event
  ReplayStart before;                 // segments there when the history begins
  bool is_whole = false;              // the history begins with an empty allocator
  std::uint64_t assumed_sizes = 0;    // older blocks of which only the request is known
  ReplayDoubts doubts;

  bool is_exact() const { return doubts.all() == 0; }
};

// How many stretches the moments are reduced to; every stretch keeps its extremes. As many as
// memory-fragmentation shows unless asked otherwise: any other number costs another pass.
inline constexpr std::size_t kStretches = 60;

// The allocations must be of the same history.
Replay follow(const memory::Snapshot& snapshot, const memory::History& history,
              const Allocations& allocations, std::size_t stretches = kStretches);

// Plain sentences for what is assumed or does not fit; empty where all is exact.
std::vector<std::string> remarks_on(const Replay& replay);

}  // namespace stepscope::analysis
