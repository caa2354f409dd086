// Numbers pairs of numbers in the order of their first appearance: what groups and paths are made
// from without building texts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/number_map.h"

namespace stepscope::analysis {

class PairNumbers {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  std::uint32_t number(std::uint32_t a, std::uint32_t b) {
    const auto [number, is_new] = numbers_.try_emplace(std::uint64_t{a} << 32 | b,
                                                       static_cast<std::uint32_t>(members_.size()));
    if (is_new) members_.emplace_back(a, b);
    return number;
  }
  const std::vector<Pair>& members() const { return members_; }

 private:
  base::NumberMap numbers_;
  std::vector<Pair> members_;
};

}  // namespace stepscope::analysis
