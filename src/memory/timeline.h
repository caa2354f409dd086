// Bytes alive by category over time, as torch.profiler's export_memory_timeline wrote them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "base/units.h"
#include "memory/snapshot.h"

namespace stepscope::memory {

// In the order in which torch numbers them.
enum class TimelineCategory : std::uint8_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
  kCount
};
inline constexpr std::size_t kTimelineCategories =
    static_cast<std::size_t>(TimelineCategory::kCount);
std::string_view name_of(TimelineCategory category);

struct TimelinePoint {
  base::Nanos time = 0;  // as the file has it, in nanoseconds; what was there before has the first
  std::array<base::Bytes, kTimelineCategories> alive{};
};

struct Timeline {
  Source source;
  std::optional<std::int32_t> rank;
  std::vector<TimelinePoint> points;  // by time
  base::ImportLog log;
};

}  // namespace stepscope::memory
