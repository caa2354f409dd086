// The states of an allocator over its history, reduced to a few per stretch of events: those in
// which something was largest or smallest, so that no peak is lost.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/memory/replay/replay.h"

namespace stepscope::analysis {

class MomentKeeper {
 public:
  MomentKeeper(std::size_t events, std::size_t stretches);
  void add(const ReplayMoment& moment);
  // In the order of events, each once.
  std::vector<ReplayMoment> take();

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
  std::array<ReplayMoment, kExtremes> extremes_;
  std::vector<ReplayMoment> kept_;
};

}  // namespace stepscope::analysis
