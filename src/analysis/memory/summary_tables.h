// The tables of memory-summary, and what its rows are called.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "analysis/memory/allocator/statistics.h"
#include "base/table.h"

namespace stepscope::analysis {

enum SummaryTable : std::size_t {
  kDeviceSummary,
  kByteSummary,
  kCountSummary,
  kHostSummary,
  kAgreement,
  kSummaryTables
};
extern const std::array<base::TableShape, kSummaryTables> kSummaryShapes;

struct NamedStat {
  allocator::Stat stat;
  std::string_view name;
};
std::span<const NamedStat> byte_stats();
std::span<const NamedStat> count_stats();

// By allocator::Part.
inline constexpr std::array<std::string_view, 3> kPoolNames = {"all", "large", "small"};

}  // namespace stepscope::analysis
