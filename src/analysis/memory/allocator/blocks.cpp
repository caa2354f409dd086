// The names of the allocator's statistics, as torch.cuda.memory_stats has them.
#include "analysis/memory/allocator/blocks.h"

namespace stepscope::analysis::allocator {

std::string_view name_of(Stat stat) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Stat::kCount)> kNames = {
      "allocation",      "segment",        "active",       "inactive_split",
      "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
      "requested_bytes"};
  return kNames[static_cast<std::size_t>(stat)];
}

std::string_view name_of(Part part) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Part::kCount)> kNames = {
      "all", "large_pool", "small_pool"};
  return kNames[static_cast<std::size_t>(part)];
}

}  // namespace stepscope::analysis::allocator
