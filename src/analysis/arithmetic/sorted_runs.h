// Puts in order what is nearly so. Lists made from a trace come by thread or stream and within it
// by time: a few sorted runs. Finding and merging these is one pass where there is one run, and
// n log(runs) else; a list of many short ones is sorted as any other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stepscope::analysis {

// Equal ones keep their order.
template <class T, class Less>
void sort_runs(std::vector<T>& list, Less less) {
  std::vector<std::size_t> borders = {0};
  const std::size_t most = list.size() / 16 + 2;
  for (std::size_t i = 1; i < list.size() && borders.size() <= most; ++i) {
    if (less(list[i], list[i - 1])) borders.push_back(i);
  }
  if (borders.size() == 1) return;
  if (borders.size() > most) return std::stable_sort(list.begin(), list.end(), less);
  borders.push_back(list.size());
  const auto at = [&](std::size_t border) {
    return list.begin() + static_cast<std::ptrdiff_t>(borders[border]);
  };
  // Neighbours first, so that everything moves log(runs) times.
  for (std::size_t width = 1; width + 1 < borders.size(); width *= 2) {
    for (std::size_t run = 0; run + width + 1 < borders.size(); run += 2 * width) {
      std::inplace_merge(at(run), at(run + width),
                         at(std::min(run + 2 * width, borders.size() - 1)), less);
    }
  }
}

}  // namespace stepscope::analysis
