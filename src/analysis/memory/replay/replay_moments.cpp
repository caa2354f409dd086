#include "analysis/memory/replay/replay_moments.h"

#include <algorithm>

namespace stepscope::analysis {

MomentKeeper::MomentKeeper(std::size_t events, std::size_t stretches)
    : width_(std::max<std::size_t>(
          1, (events + stretches - 1) / std::max<std::size_t>(1, stretches))) {}

void MomentKeeper::add(const ReplayMoment& moment) {
  if (const std::size_t stretch = moment.event / width_; !is_open_ || stretch != stretch_) {
    close();
    stretch_ = stretch;
    is_open_ = true;
    extremes_.fill(moment);
    return;
  }
  const auto keep = [&](Extreme which, bool better) {
    if (better) extremes_[which] = moment;
  };
  keep(kMostAllocated, moment.allocated > extremes_[kMostAllocated].allocated);
  keep(kLeastAllocated, moment.allocated < extremes_[kLeastAllocated].allocated);
  keep(kMostReserved, moment.reserved > extremes_[kMostReserved].reserved);
  keep(kMostUnused, moment.unused() > extremes_[kMostUnused].unused());
  keep(kLeastFreeBlock, moment.largest_free < extremes_[kLeastFreeBlock].largest_free);
  keep(kLast, true);
}

void MomentKeeper::close() {
  if (!is_open_) return;
  std::ranges::sort(extremes_, {}, &ReplayMoment::event);
  for (const ReplayMoment& moment : extremes_) {
    if (kept_.empty() || kept_.back().event != moment.event) kept_.push_back(moment);
  }
  is_open_ = false;
}

std::vector<ReplayMoment> MomentKeeper::take() {
  close();
  return std::move(kept_);
}

}  // namespace stepscope::analysis
