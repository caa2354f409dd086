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

}  // namespace stepscope::analysis
