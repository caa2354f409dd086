// Call stacks, each kept once: a snapshot's million events share a few thousand.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "base/strings.h"

namespace stepscope::memory {

using FrameId = std::uint32_t;
using StackId = std::uint32_t;
inline constexpr StackId kNoStack = 0xffffffff;

struct Frame {
  base::StringId name = base::kNoString;
  base::StringId file = base::kNoString;
  std::int32_t line = 0;
  auto operator<=>(const Frame&) const = default;
};

class Stacks {
 public:
  std::size_t size() const { return first_.size() - 1; }
  const Frame& frame(FrameId id) const { return frames_[id]; }
  std::span<const Frame> frames() const { return frames_; }
  // Innermost call first; empty for kNoStack.
  std::span<const FrameId> operator[](StackId id) const {
    if (id >= size()) return {};
    return std::span(items_).subspan(first_[id], first_[id + 1] - first_[id]);
  }

  FrameId add_frame(const Frame& frame) {
    frames_.push_back(frame);
    return static_cast<FrameId>(frames_.size() - 1);
  }
  StackId add_stack(std::span<const FrameId> innermost_first) {
    items_.insert(items_.end(), innermost_first.begin(), innermost_first.end());
    first_.push_back(static_cast<std::uint32_t>(items_.size()));
    return static_cast<StackId>(first_.size() - 2);
  }
  std::size_t memory() const {
    return frames_.capacity() * sizeof(Frame) + items_.capacity() * sizeof(FrameId) +
           first_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::vector<Frame> frames_;
  std::vector<FrameId> items_;
  std::vector<std::uint32_t> first_ = {0};
};

// Frames and stacks while they are collected: the same frame and the same stack get the same id,
// whichever objects they were in the file.

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
