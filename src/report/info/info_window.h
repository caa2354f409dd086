// The facts of one window that a run's summary is put together from.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "report/info/info.h"

namespace stepscope::report {

using CategoryTotals = std::map<std::pair<trace::Kind, std::string>, CategoryInfo>;

WindowInfo window_info(std::int32_t rank, std::uint32_t number, const trace::Window& window);
StepInfo step_info(const trace::Steps& steps);
LinkInfo link_info(const trace::Trace& trace);
MemoryInfo memory_info(const trace::MemoryTable& memory);
void add_categories(const trace::Trace& trace, CategoryTotals& totals);

// Name → count of host calls and of kernels, and the names of the groups.
struct CollectiveTotals {
  std::map<std::string, std::uint64_t> calls, kernels;
  std::map<std::string, std::uint64_t> groups;
};
void add_collectives(const trace::Trace& trace, CollectiveTotals& totals);

}  // namespace stepscope::report
