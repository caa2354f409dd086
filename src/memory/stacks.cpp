// Collects frames and stacks of a snapshot, each once.
#include "memory/stacks.h"

#include <algorithm>

namespace stepscope::memory {
namespace {

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  return value ^ (value >> 29);
}

}  // namespace

FrameId StackPool::frame(const Frame& frame) {
  const std::uint64_t hash = mixed(mixed(frame.name) ^ mixed(frame.file + 0x51edull) ^
                                   static_cast<std::uint32_t>(frame.line));
  const auto [id, is_new] =
      frame_ids_.try_emplace(hash, static_cast<FrameId>(stacks_.frames().size()),
                             [&](FrameId other) { return stacks_.frame(other) == frame; });
  if (is_new) stacks_.add_frame(frame);
  return id;
}

StackId StackPool::stack(std::span<const FrameId> frames) {
  if (frames.empty()) return kNoStack;
  std::uint64_t hash = frames.size();
  for (const FrameId frame : frames) hash = mixed(hash ^ frame);
  const auto [id, is_new] = stack_ids_.try_emplace(
      hash, static_cast<StackId>(stacks_.size()),
      [&](StackId other) { return std::ranges::equal(stacks_[other], frames); });
  if (is_new) stacks_.add_stack(frames);
  return id;
}

std::size_t StackPool::memory() const {
  return stacks_.memory() + frame_ids_.memory() + stack_ids_.memory();
}

}  // namespace stepscope::memory
