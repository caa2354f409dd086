// The states of an allocator over its history, reduced to a few per stretch of events: those in
// which something was largest or smallest, so that no peak is lost.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/memory/followed/followed.h"

namespace stepscope::analysis {

class MomentKeeper {
 public:
  MomentKeeper(std::size_t events, std::size_t stretches);
  void add(const FollowedMoment& moment);
  // In the order of events, each once.
  std::vector<FollowedMoment> take();

 private:
  void close();

  std::size_t width_;
  std::size_t stretch_ = 0;
  bool is_open_ = false;
  enum Extreme : std::uint8_t {
    kMostAllocated,
    kLeastAllocated,
    kMostReserved,
    kMostUnused,
    kLeastFreeBlock,
    kLast,
    kExtremes
  };
  std::array<FollowedMoment, kExtremes> extremes_;
  std::vector<FollowedMoment> kept_;
};

}  // namespace stepscope::analysis
