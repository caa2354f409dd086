// What the report shows of the machines a run was on, and of the energy they took.
#pragma once

#include <array>
#include <string_view>

#include "report/page/sections.h"

namespace stepscope::report {

inline constexpr std::array<std::string_view, 10> kMachineColumns = {"node",
                                                                     "processors",
                                                                     "cpu_mean_share",
                                                                     "cpu_p95_share",
                                                                     "job_cores",
                                                                     "memory_mean_bytes",
                                                                     "memory_max_bytes",
                                                                     "memory_total_bytes",
                                                                     "disk_read_bytes",
                                                                     "received_bytes"};
inline constexpr std::array<std::string_view, 11> kGpuColumns = {"node",
                                                                 "gpu",
                                                                 "busy_mean_share",
                                                                 "busy_p95_share",
                                                                 "memory_max_bytes",
                                                                 "memory_total_bytes",
                                                                 "mean_watts",
                                                                 "max_watts",
                                                                 "mean_mhz",
                                                                 "max_celsius",
                                                                 "slowed_by"};
inline constexpr std::array<std::string_view, 7> kProcessColumns = {
    "rank", "processes", "most", "mean_cores", "max_cores", "rss_max_bytes", "read_bytes"};
inline constexpr std::array<std::string_view, 3> kMissingColumns = {"node", "source", "missing"};
inline constexpr std::array kMachines = std::to_array<Part>({
    {.analysis = "system",
     .table = "load",
     .shown = Shown::kChart,
     .caption = "How busy they were, over time:",
     .only_html = true},
    {.analysis = "system",
     .table = "memory",
     .shown = Shown::kChart,
     .caption = "Memory in use, over time:",
     .only_html = true},
    {.analysis = "system", .table = "machines", .columns = kMachineColumns},
    {.analysis = "system",
     .table = "gpus",
     .columns = kGpuColumns,
     .caption = "The GPUs of the job:",
     .quiet = true},
    {.analysis = "system",
     .table = "processes",
     .columns = kProcessColumns,
     .caption = "The processes of the job:",
     .quiet = true},
    {.analysis = "system",
     .table = "missing",
     .columns = kMissingColumns,
     .caption = "What could not be seen:",
     .quiet = true},
});

inline constexpr std::array<std::string_view, 8> kEnergyColumns = {
    "of", "devices", "joules", "error_joules", "kwh", "mean_watts", "joules_per_step", "co2_grams"};
inline constexpr std::array<std::string_view, 7> kEnergyDeviceColumns = {
    "node", "kind", "device", "method", "joules", "mean_watts", "max_watts"};
inline constexpr std::array<std::string_view, 8> kPhaseColumns = {
    "rank", "range", "calls", "total_ns", "joules", "joules_per_call", "watts", "estimate"};
inline constexpr std::array kEnergyParts = std::to_array<Part>({
    {.analysis = "energy",
     .table = "power",
     .shown = Shown::kChart,
     .caption = "Power in watts, over time:",
     .only_html = true},
    {.analysis = "energy", .table = "run", .columns = kEnergyColumns, .needs = "joules"},
    {.analysis = "energy",
     .table = "devices",
     .columns = kEnergyDeviceColumns,
     .rows = 16,
     .caption = "By device:",
     .quiet = true},
    {.analysis = "energy",
     .table = "phases",
     .columns = kPhaseColumns,
     .rows = 12,
     .caption = "By range, each below the one it was entered in:",
     .needs = "joules",
     .quiet = true,
     .one_rank = true},
});

}  // namespace stepscope::report
