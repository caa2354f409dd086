// Frames and stacks while they are collected: the same frame and the same stack get the same id,
// whichever objects they were in the file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/stacks.h"

namespace stepscope::memory {

class StackPool {
 public:
  StackPool();
  FrameId frame(const Frame& frame);
  StackId stack(std::span<const FrameId> innermost_first);  // kNoStack for an empty one
  const Stacks& stacks() const { return stacks_; }
  Stacks take() { return std::move(stacks_); }
  std::size_t memory() const;

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;
  static void grow(std::vector<std::uint32_t>& slots, const std::vector<std::uint64_t>& hashes);

  Stacks stacks_;
  // Open addressing: ids in slots, the hash of each id beside it so that growing needs no rehash.
  std::vector<std::uint32_t> frame_slots_, stack_slots_;
  std::vector<std::uint64_t> frame_hashes_, stack_hashes_;
};

}  // namespace stepscope::memory
