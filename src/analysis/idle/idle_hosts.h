// What host threads were in, moment by moment, while a device had nothing to do. Every moment goes
// to the innermost span of the thread that launches the next work; parts add up to the idle time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// A stretch in which a device ran nothing, and the thread to look at.
struct IdleStretch {
  static constexpr std::uint32_t kNobody = 0xffffffff;
  Interval time;
  std::uint32_t track = kNobody;  // kNobody: no work of this device has its launch in the trace
  std::uint32_t next = kNobody;   // the work that ends it, into WindowView::work
};

// Of the time in `measured` in which the device is idle, in order. The thread is that of the call
// that launched the next work, else of the latest known before it, else of the first known.
std::vector<IdleStretch> idle_stretches(const WindowView& window, const DeviceView& device,
                                        const Intervals& measured);

// A part of a stretch in which the thread was in the same place.
struct HostMoment {
  Interval time;
  std::uint32_t stretch = 0;         // into the stretches asked about
  trace::Row named = trace::kNoRow;  // innermost operator, call or annotation; no step
  std::uint32_t frame = 0xffffffff;  // innermost Python frame, into HostPlaces::frames
  std::uint32_t path = 0xffffffff;   // of Python frames, into HostPlaces::paths
};

struct HostPlaces {
  std::vector<std::string> frames;  // without the addresses of objects: those are all different
  PairNumbers paths;                // a path further out, and a frame
};

// "<built-in method to of Tensor object at 0x7f6e9>" without " at 0x7f6e9".
std::string without_addresses(std::string_view frame);

// Shows every moment of the stretches, a thread after the other, each by time. There are several
// for every operator: they are not kept.
HostPlaces host_moments(const WindowView& window, const std::vector<IdleStretch>& stretches,
                        const std::function<void(const HostMoment&)>& show);

}  // namespace stepscope::analysis
