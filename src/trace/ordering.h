// Puts the rows of a track in time order. A file holds a thread's events as a few sorted runs (the
// operators, then the runtime calls, then the Python frames), so merging runs beats sorting. The
// track is cut into slices of time that do not depend on each other: several threads can work on
// one track, and what is merged stays in the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace stepscope::trace {

inline bool precedes(base::Nanos start, base::Nanos duration, base::Nanos other_start,
                     base::Nanos other_duration) {
  return (start < other_start) | ((start == other_start) & (duration > other_duration));
}

struct OrderKey {
  base::Nanos start;
  base::Nanos duration;
  std::uint32_t at;
};
inline bool precedes(const OrderKey& a, const OrderKey& b) {
  return precedes(a.start, a.duration, b.start, b.duration);
}

// Whether a row must stand before the one it follows: there a run begins.
inline bool begins_run(std::span<const base::Nanos> start, std::span<const base::Nanos> duration,
                       std::size_t row) {
  return precedes(start[row], duration[row], start[row - 1], duration[row - 1]);
}

class TrackOrder {
 public:
  // What a slice is merged in; kept from slice to slice, so that its memory is not fetched anew.
  struct Room {
    std::vector<OrderKey> keys;
    std::vector<OrderKey> left;
  };
  // Of the whole track, as long as it is.
  struct Sorted {
    std::span<base::Nanos> start, duration;
    std::span<std::uint32_t> place;  // place[i] is where the i-th row went, counted from 0
  };

  TrackOrder() = default;
  // The rows as they stand in the file, which must outlive this; `begins` are the rows that
  // begins_run() says it of, ascending.
  TrackOrder(std::span<const base::Nanos> start, std::span<const base::Nanos> duration,
             std::vector<std::size_t> begins);

  std::size_t slices() const { return first_piece_.empty() ? 0 : first_piece_.size() - 1; }
  // Sorts a slice by start, the longer first, else by present order. Slices write different rows.
  void sort(std::size_t slice, const Sorted& to, Room& room) const;

 private:
  struct Piece {
    std::uint32_t begin, end;  // sorted rows, all of one run
  };
  std::span<const base::Nanos> start_, duration_;
  std::vector<Piece> pieces_;               // by slice; of one slice in the order of the file
  std::vector<std::uint32_t> first_piece_;  // by slice, and one more
  std::vector<std::uint32_t> first_row_;    // by slice: where its rows go
};

}  // namespace stepscope::trace
