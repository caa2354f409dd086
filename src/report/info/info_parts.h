// What the headers of a run's files say about devices, versions and the recording's settings.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/info/info.h"

namespace stepscope::report {

bool lists_devices(const trace::Header& header);

// Adds what this header says and earlier ones did not.
void add_devices(const trace::Header& header, std::vector<DeviceInfo>& devices);
void add_versions(const trace::Header& header, std::vector<NamedText>& versions);
void add_settings(const trace::Header& header, std::vector<std::string>& settings);

// 13000 → "13.0", as CUDA counts; 60443483 → "6.4.43483", as HIP does.
std::string cuda_version_text(std::string_view json);
std::string hip_version_text(std::string_view json);
std::string cupti_version_text(std::string_view json);

// The facts of one window that a run's summary is put together from.

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
