// A long curve made short without losing its peaks: cut into stretches, of each its highest place.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace stepscope::analysis {

// Of equally many places each.
inline auto stretches_of_places(std::size_t places, std::size_t points) {
  return [=](std::size_t place) { return place * points / places; };
}

// Of equal length in time each; `when(place)` does not fall.
template <class Time>
auto stretches_of_time(std::size_t places, std::size_t points, Time when) {
  __extension__ using Wide = __int128;
  const base::Nanos first = when(0);
  const base::Nanos length = when(places - 1) - first + 1;
  return [=](std::size_t place) {
    const auto at = static_cast<Wide>(when(place) - first);
    return static_cast<std::size_t>(at * static_cast<Wide>(points) / length);
  };
}

// The first of the highest places of every stretch that has one.
template <class Stretch, class Height>
std::vector<std::uint32_t> highest_of(std::uint32_t places, Stretch stretch, Height height) {
  std::vector<std::uint32_t> found;
  std::size_t last = 0;
  for (std::uint32_t place = 0; place < places; ++place) {
    const std::size_t now = stretch(place);
    if (found.empty() || now != last) {
      found.push_back(place);
      last = now;
    } else if (height(place) > height(found.back())) {
      found.back() = place;
    }
  }
  return found;
}

// Over time, where stretches may have no place: what holds over those is the last place before, not
// the highest, and so it is at the end; they are given as well. No two have the same time.
template <class When, class Height>
std::vector<std::uint32_t> highest_over_time(std::uint32_t places, std::size_t points, When when,
                                             Height height) {
  const auto stretch = stretches_of_time(places, points, when);
  std::vector<std::uint32_t> found;
  for (const std::uint32_t highest : highest_of(places, stretch, height)) {
    if (!found.empty()) {
      // The last place of the stretch before.
      std::uint32_t held = highest;
      while (stretch(held) == stretch(highest)) --held;
      const bool is_gap = stretch(highest) > stretch(held) + 1;
      if (is_gap && when(held) > when(found.back())) found.push_back(held);
    }
    found.push_back(highest);
  }
  if (places > 0 && when(places - 1) > when(found.back())) found.push_back(places - 1);
  return found;
}

}  // namespace stepscope::analysis
