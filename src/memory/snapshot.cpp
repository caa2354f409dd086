// Names of allocator actions and categories, and the memory that a snapshot takes.
#include "memory/snapshot.h"

#include <array>

#include "memory/timeline.h"

namespace stepscope::memory {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Action::kCount)> kNames = {
    "alloc",        "free_requested", "free_completed", "segment_alloc",
    "segment_free", "segment_map",    "segment_unmap",  "oom",
    "snapshot",     "annotate",       "unknown",
};

constexpr std::array<std::string_view, kTimelineCategories> kCategoryNames = {
    "parameter",  "optimizer state", "input",           "temporary",
    "activation", "gradient",        "autograd detail", "unknown",
};

std::size_t memory_of(const History& h) {
  return h.action.memory() + h.address.memory() + h.size.memory() + h.stream.memory() +
         h.time.memory() + h.stack.memory() + h.forward.memory() + h.pool.memory() +
         h.note.memory() + h.compile_context.memory();
}

}  // namespace

std::string_view name_of(Action action) { return kNames[static_cast<std::size_t>(action)]; }

std::string_view name_of(TimelineCategory category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

std::size_t Snapshot::memory() const {
  std::size_t sum = strings.memory() + stacks.memory();
  for (const History& history : histories) sum += memory_of(history);
  return sum + segments.capacity() * sizeof(Segment) + blocks.capacity() * sizeof(Block) +
         annotations.capacity() * sizeof(Annotation) + known.capacity() * sizeof(KnownContent);
}

}  // namespace stepscope::memory
