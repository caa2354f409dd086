// Numbers pairs of numbers in the order of their first appearance: what groups and paths are made
// from without building texts.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stepscope::analysis {

class PairNumbers {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  std::uint32_t number(std::uint32_t a, std::uint32_t b) {
    const auto [found, fresh] = numbers_.try_emplace(std::uint64_t{a} << 32 | b,
                                                     static_cast<std::uint32_t>(members_.size()));
    if (fresh) members_.emplace_back(a, b);
    return found->second;
  }
  const std::vector<Pair>& members() const { return members_; }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<Pair> members_;
};

}  // namespace stepscope::analysis
