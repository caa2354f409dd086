// Frames and stacks while they are collected: the same frame and the same stack get the same id,
// whichever objects they were in the file.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/number_map.h"
#include "memory/stacks.h"

namespace stepscope::memory {

class StackPool {
 public:
  FrameId frame(const Frame& frame);
  StackId stack(std::span<const FrameId> innermost_first);  // kNoStack for an empty one
  const Stacks& stacks() const { return stacks_; }
  Stacks take() { return std::move(stacks_); }
  std::size_t memory() const;

 private:
  Stacks stacks_;
  base::NumberMap frame_ids_, stack_ids_;  // by hash
};

}  // namespace stepscope::memory
