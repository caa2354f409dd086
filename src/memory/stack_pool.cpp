#include "memory/stack_pool.h"

#include <algorithm>

namespace stepscope::memory {
namespace {

constexpr std::size_t kFirstSlots = 1024;  // a power of two

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  return value ^ (value >> 29);
}

}  // namespace

StackPool::StackPool() : frame_slots_(kFirstSlots, kFree), stack_slots_(kFirstSlots, kFree) {}

void StackPool::grow(std::vector<std::uint32_t>& slots, const std::vector<std::uint64_t>& hashes) {
  const std::size_t size = slots.size() * 2;
  slots.assign(size, kFree);
  for (std::uint32_t id = 0; id < hashes.size(); ++id) {
    std::size_t at = hashes[id] & (size - 1);
    while (slots[at] != kFree) at = (at + 1) & (size - 1);
    slots[at] = id;
  }
}

FrameId StackPool::frame(const Frame& frame) {
  const std::uint64_t hash = mixed(mixed(frame.name) ^ mixed(frame.file + 0x51edull) ^
                                   static_cast<std::uint32_t>(frame.line));
  const std::size_t mask = frame_slots_.size() - 1;
  std::size_t at = hash & mask;
  while (frame_slots_[at] != kFree) {
    if (stacks_.frame(frame_slots_[at]) == frame) return frame_slots_[at];
    at = (at + 1) & mask;
  }
  const FrameId id = stacks_.add_frame(frame);
  frame_slots_[at] = id;
  frame_hashes_.push_back(hash);
  if (frame_hashes_.size() * 2 > frame_slots_.size()) grow(frame_slots_, frame_hashes_);
  return id;
}

StackId StackPool::stack(std::span<const FrameId> frames) {
  if (frames.empty()) return kNoStack;
  std::uint64_t hash = frames.size();
  for (const FrameId frame : frames) hash = mixed(hash ^ frame);
  const std::size_t mask = stack_slots_.size() - 1;
  std::size_t at = hash & mask;
  while (stack_slots_[at] != kFree) {
    const StackId id = stack_slots_[at];
    if (stack_hashes_[id] == hash && std::ranges::equal(stacks_[id], frames)) return id;
    at = (at + 1) & mask;
  }
  const StackId id = stacks_.add_stack(frames);
  stack_slots_[at] = id;
  stack_hashes_.push_back(hash);
  if (stack_hashes_.size() * 2 > stack_slots_.size()) grow(stack_slots_, stack_hashes_);
  return id;
}

std::size_t StackPool::memory() const {
  return stacks_.memory() + (frame_slots_.capacity() + stack_slots_.capacity()) * 4 +
         (frame_hashes_.capacity() + stack_hashes_.capacity()) * 8;
}

}  // namespace stepscope::memory
