// Different texts, numbered in the order in which they come, and handed over as a list. A trace may
// have a million of them (an operator called with new shapes each time), so the table has no place
// of its own in memory for each: the standard's take several times as long. base::StringPool copies
// text to stay; here views and ids are numbered, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number_map.h"

namespace stepscope::trace {

inline std::string_view bytes_of(std::string_view text) { return text; }
template <std::size_t kSize>
std::string_view bytes_of(const std::array<std::uint32_t, kSize>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), sizeof(ids)};
}

// Text is what bytes_of() takes. Views must outlive this.
template <class Text>
class Numbered {
 public:
  struct Place {
    std::uint32_t number;
    bool is_new;
  };

  Place place(Text text) {
    const std::uint64_t hash = std::hash<std::string_view>()(bytes_of(text));
    const auto [number, is_new] = numbers_.try_emplace(
        hash, static_cast<std::uint32_t>(texts_.size()),
        [&](std::uint32_t id) { return bytes_of(texts_[id]) == bytes_of(text); });
    if (is_new) texts_.push_back(std::move(text));
    return {number, is_new};
  }

  // In order; they are gone from here.
  std::vector<Text> take() {
    numbers_.clear();
    return std::exchange(texts_, {});
  }

 private:
  base::NumberMap numbers_;  // by hash
  std::vector<Text> texts_;
};

}  // namespace stepscope::trace
