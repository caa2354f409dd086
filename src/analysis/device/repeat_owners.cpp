#include "analysis/device/repeat_owners.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/device/kernel_owners.h"

namespace stepscope::analysis {
bool RepeatOwners::knows(const Repeat::Place& place) const {
  for (std::uint32_t i = 0; i < place.count; ++i) {
    if (!operator_of(place.first + i).empty()) return true;
  }
  return false;
}

std::string_view RepeatOwners::operator_of(std::uint32_t place) const {
  const FusibleText::Kernel& kernel = text_.kernels[place];
  const WindowView& window = windows_[kernel.window];
  return launching_operator(window, window.work[kernel.work]);
}

std::string_view RepeatOwners::around(std::uint32_t place) const {
  const FusibleText::Kernel& kernel = text_.kernels[place];
  const WindowView& window = windows_[kernel.window];
  return range_around(window, window.work[kernel.work]);
}

std::optional<std::string> RepeatOwners::around(const Repeat& repeat) const {
  struct Found {
    std::string_view name;
    std::size_t count = 0;
  };
  std::vector<Found> found;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const Repeat::Place& place : repeat.places) {
    const std::string_view name = around(place.first);
    if (name.empty()) continue;
    const auto [at, fresh] = index.try_emplace(name, found.size());
    if (fresh) found.push_back({name, 0});
    ++found[at->second].count;
  }
  if (found.empty()) return std::nullopt;
  return std::string(std::ranges::max_element(found, {}, &Found::count)->name);
}

}  // namespace stepscope::analysis
