// Where an allocator's memory lay before its recorded history begins, worked out backwards from the
// snapshot at its end: what is returned without having been taken was there before, and so was
// what is there at the end without ever having been taken.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/memory/allocator/rules.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
